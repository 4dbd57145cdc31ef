"""The command line from a fresh process: what a user waits for."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

from table import Table, side_by_side

PROGRAM = str(Path(sys.executable).with_name("neuromanifold"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "--help": [PROGRAM, "--help"],
    "a refused network": [PROGRAM, "dimension", "lightning d=3,3 a=2"],
    "a formula": [PROGRAM, "dimension", "lightning d=512,512,512 a=64 t=16", "--timeout", "0"],
    "a small proof": [PROGRAM, "dimension", "lightning d=3,3,3 a=2,2 t=3", "--require", "proven"],
}
EXPECTED = {"a refused network": 2}


def measure(rounds: int) -> Table:
    """Time each command in a fresh process, files in the system's cache."""
    title = f"Command line, a fresh process each, {rounds} rounds side by side"
    return side_by_side(title, {name: functools.partial(_run, name) for name in COMMANDS}, rounds)


def _run(name: str) -> None:
    done = subprocess.run(COMMANDS[name], capture_output=True, text=True, check=False)
    if done.returncode != EXPECTED.get(name, 0):
        raise SystemExit(f"ci/bench: {name}: exit code {done.returncode}: {done.stderr.strip()}")
