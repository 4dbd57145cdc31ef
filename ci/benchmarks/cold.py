"""The command line from a fresh process: what a user waits for."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from table import Table, side_by_side

PROGRAM = str(Path(sys.executable).with_name("neuromanifold"))
STORED = "softmax d=14,14,14,14 a=3 t=3 skip dv=3 heads=4 ffn=14:silu bias=qkvo"  # seconds to prove, less to find again
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "--help": [PROGRAM, "--help"],
    "a refused network": [PROGRAM, "dimension", "lightning d=3,3 a=2"],
    "a formula": [PROGRAM, "dimension", "lightning d=512,512,512 a=64 t=16", "--timeout", "0"],
    "a small proof": [PROGRAM, "dimension", "lightning d=3,3,3 a=2,2 t=3", "--require", "proven"],
    "a stored answer": [PROGRAM, "dimension", STORED, "--require", "proven"],
    "the same, proven again": [PROGRAM, "dimension", STORED, "--require", "proven", "--no-store"],
}
EXPECTED = {"a refused network": 2}


def measure(rounds: int, quick: bool) -> list[Table]:
    """Time each command in a fresh process, files in the system's cache, the store of certificates in a folder of its own."""
    title = f"Command line, a fresh process each, {rounds} rounds side by side"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NEUROMANIFOLD_CACHE"] = folder
        return [side_by_side(title, {name: functools.partial(_run, name) for name in COMMANDS}, rounds)]


def _run(name: str) -> None:
    done = subprocess.run(COMMANDS[name], capture_output=True, text=True, check=False)
    if done.returncode != EXPECTED.get(name, 0):
        raise SystemExit(f"ci/bench: {name}: exit code {done.returncode}: {done.stderr.strip()}")
