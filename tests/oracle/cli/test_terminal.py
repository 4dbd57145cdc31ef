"""What a person at a terminal sees, and what a pipe does not."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

STUB = Path(__file__).with_name("stub.py")
LINES = [f"lightning d=2,{n} a=1 t=8" for n in range(2, 7)]


def in_terminal(*arguments, stream="stderr", **environment):
    """Run the stub with one output a terminal, and return what that showed."""
    ours, theirs = pty.openpty()
    outputs = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
    command = [sys.executable, STUB, *map(str, arguments)]
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    with subprocess.Popen(command, env=plain | {"TERM": "xterm", **environment}, **outputs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert process.returncode == 0
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture
def file(tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(LINES))
    return tmp_path / "in.txt"


def test_a_sweep_shows_how_far_it_is_and_then_erases_that(file, tmp_path):
    shown = in_terminal("sweep", file, "--out", tmp_path / "out.jsonl", NAP="0.15")
    *drawn, last = shown.split("\r\x1b[K")
    assert any(f"/{len(LINES)} lines, 0 open, 0 errors" in line for line in drawn)
    assert last.startswith(f"{tmp_path / 'out.jsonl'}: {len(LINES)} lines")


def test_a_pipe_gets_only_the_summary(stub_process, file, tmp_path):
    process = stub_process("sweep", file, "--out", tmp_path / "out.jsonl")
    _, err = process.communicate(timeout=60)
    assert err == f"{tmp_path / 'out.jsonl'}: {len(LINES)} lines: {len(LINES)} proven\n"


def test_colours_are_for_terminals_that_want_them():
    answer = ("dimension", "lightning d=2,2 a=1 t=2")
    assert "\x1b[32mproven\x1b[0m" in in_terminal(*answer, stream="stdout")
    assert "\x1b" not in in_terminal(*answer, stream="stdout", NO_COLOR="1")
    assert "\x1b" not in in_terminal(*answer, stream="stdout", TERM="dumb")
