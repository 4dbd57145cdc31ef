"""Sweeps of random small networks: networks per second in one process, in two, and on Dask with one worker and with two."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from neuromanifold.numerics.notation import parse
from table import Table, side_by_side

PROGRAM = str(Path(sys.executable).with_name("neuromanifold"))
PARAMETERS = 100


def measure(rounds: int, quick: bool) -> list[Table]:
    """Time a sweep of 1000 networks (quick: 40), start of the workers included; one round."""
    count = 40 if quick else 1_000
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "networks")
        file.write_text("".join(f"{spec}\n" for spec in random_networks(count)))
        things: dict[str, Callable[[], object]] = {
            "one process": lambda: _sweep(file, "--jobs", "1"),
            "two processes": lambda: _sweep(file, "--jobs", "2"),
        }
        try:
            import distributed
        except ImportError:
            print("ci/bench: dask is missing: no columns for it", file=sys.stderr)
            return [side_by_side(f"Sweep of {count} networks up to {PARAMETERS} parameters", things, 1, warm=False)]
        made = [
            distributed.LocalCluster(
                n_workers=n, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs="CRITICAL"
            )
            for n in (1, 2)
        ]
        for n, cluster in zip(("one Dask worker", "two Dask workers"), made, strict=True):
            things[n] = lambda cluster=cluster: _sweep(file, "--dask", cluster.scheduler_address)
        try:
            return [side_by_side(f"Sweep of {count} networks up to {PARAMETERS} parameters", things, 1, warm=False)]
        finally:
            for cluster in made:
                cluster.close()


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


def _sweep(file: Path, *options: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [PROGRAM, "sweep", str(file), "--out", str(Path(folder, "out")), "--no-store", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"ci/bench: sweep {' '.join(options)}: exit code {done.returncode}: {done.stderr.strip()}")
