"""Sweeps of random small networks: networks per second in one process, in two, and on Dask with one worker and with two."""

from __future__ import annotations

import functools
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import others
from neuromanifold.numerics.notation import parse
from table import Table

PROGRAM = str(Path(sys.executable).with_name("neuromanifold"))
PARAMETERS = 100


def measure(rounds: int, quick: bool) -> list[Table]:
    """Time a sweep of 1000 networks (quick: 40), start of the processes included, that of a cluster not; one round."""
    count = 40 if quick else 1_000
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "networks")
        file.write_text("".join(f"{spec}\n" for spec in random_networks(count)))
        seconds["one process"] = [_sweep(file, "--jobs", "1")]
        seconds["two processes"] = [_sweep(file, "--jobs", "2")]
        if distributed := others.find("distributed"):
            for n, name in ((1, "one Dask worker"), (2, "two Dask workers")):
                cluster = functools.partial(distributed.LocalCluster, host="127.0.0.1", dashboard_address=None, silence_logs="CRITICAL")
                with cluster(n_workers=n, threads_per_worker=1) as made:
                    seconds[name] = [_sweep(file, "--dask", made.scheduler_address)]
    rates = ", ".join(f"{name} {count / took:.0f}" for name, (took,) in seconds.items())
    return [Table(f"Sweep of {count} networks up to {PARAMETERS} parameters", seconds, (f"networks a second: {rates}",))]


def random_networks(count: int) -> list[str]:
    """Different small networks of several kinds, always the same."""
    source = random.Random(0)
    found: dict[str, None] = {}
    while len(found) < count:
        widths = ",".join(str(source.randint(1, 5)) for _ in range(source.randint(2, 4)))
        kind = source.choice(["lightning", "softmax", "mlp"])
        if kind == "mlp":
            spec = f"mlp d={widths} r={source.randint(2, 3)}"
        else:
            spec = f"{kind} d={widths} a={source.randint(1, 3)} t={source.randint(1, 4)}"
            spec += source.choice(["", " causal", " bias=qk", " bias=vo", " heads=2"])
        network = parse(spec)
        if network.parameters <= PARAMETERS:
            found[str(network)] = None
    return list(found)


def _sweep(file: Path, *options: str) -> float:
    """The seconds of a sweep."""
    with tempfile.TemporaryDirectory() as folder:
        command = [PROGRAM, "sweep", str(file), "--out", str(Path(folder, "out")), "--no-store", *options]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"ci/bench: sweep {' '.join(options)}: exit code {done.returncode}: {done.stderr.strip()}")
        return time.perf_counter() - start
