"""Large networks from a fresh process: seconds and memory of the proof, seconds of its replay, growth exponents."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from neuromanifold.verifiers.cost import REPLAY as REPLAY_SECONDS
from table import Table

PROGRAM = str(Path(sys.executable).with_name("neuromanifold"))
REPLAY = str(Path(__file__).parents[2] / "verifiers" / "replay.py")
DIRECT = ("softmax d={n},{n},{n},{n} a={a} t=3 skip dv={a} heads=4 ffn={n}:silu bias=qkvo", (8, 12, 16, 23, 33))
COORDINATES = ("softmax d={n},{n},{n} a={a} t=16", (32, 64, 96))
LARGEST_REPLAY = 2_000  # of a dense minor; larger ones take minutes in Python integers, and `verify` uses numpy


def measure(rounds: int, quick: bool) -> list[Table]:
    """One run of each size: dense minors, and coordinate certificates, whose cost hardly depends on the size."""
    del rounds  # minutes each: once
    return [_family("dense minors", *DIRECT, quick), _family("coordinate certificates", *COORDINATES, quick)]


def _family(title: str, pattern: str, sizes: tuple[int, ...], quick: bool) -> Table:
    seconds: dict[str, list[float]] = {}
    notes: list[str] = []
    made: list[tuple[int, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes[:2] if quick else sizes:
            spec = pattern.format(n=n, a=max(1, n // 4))
            file = str(Path(folder, f"{n}.json"))
            took, memory, out = _timed(PROGRAM, "dimension", spec, "--no-store", "--json", "--certificate", file)
            answer = json.loads(out)
            dimension = answer["lower"]
            made.append((dimension, took))
            seconds[f"D = {dimension}: {spec}"] = [took]
            line = f"D = {dimension}: {answer['label']}, {memory / 2**30:.2f} GiB, {memory / (8 * dimension**2):.2f} x 8 D^2 bytes"
            if title != "dense minors" or dimension <= LARGEST_REPLAY:
                took, _, _ = _timed(sys.executable, "-I", "-S", REPLAY, file)
                line += f"; independent replay {took:.1f} s"
            else:
                took, memory, _ = _timed(PROGRAM, "verify", file)
                line += f"; verify {took:.1f} s, {memory / 2**30:.2f} GiB; independent replay would take about {REPLAY_SECONDS * dimension**3 / 60:.0f} min"
            notes.append(line)
    for (d, s), (e, u) in itertools.pairwise(made):
        notes.append(f"growth from D = {d} to {e}: seconds ~ D^{math.log(u / s) / math.log(e / d):.2f}")
    return Table(f"Large networks by {title}, a fresh process each", seconds, tuple(notes))


def _timed(*command: str) -> tuple[float, int, str]:
    """Seconds, peak memory in bytes and stdout of a command."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        out = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"ci/bench: {' '.join(command)}: exit code {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024, out
