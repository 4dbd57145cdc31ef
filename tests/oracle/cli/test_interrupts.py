"""Ctrl-C, broken pipes and closed outputs: the best that is known, the right exit code, no traceback."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

SLOW = "lightning d=2,2 a=1 t=8"
QUICK = "lightning d=2,2 a=1 t=2"


def interrupt_when(process, path):
    """Send Ctrl-C as soon as the stub has logged that it was asked, and return what the process said."""
    deadline = time.monotonic() + 60
    while not (path.exists() and SLOW in path.read_text()):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize("json_mode", [False, True])
def test_ctrl_c_reports_the_best_bounds_so_far(stub_process, tmp_path, json_mode):
    environment = os.environ | {"NAP": "60", "LOG": str(tmp_path / "log")}
    certificate = tmp_path / "c.json"
    arguments = ["dimension", SLOW, "--certificate", certificate, *(["--json"] if json_mode else [])]
    code, out, err = interrupt_when(stub_process(*arguments, env=environment), tmp_path / "log")
    assert code == 130
    assert "Traceback" not in err
    if json_mode:
        answer = json.loads(out)
        assert (answer["lower"], answer["upper"], answer["dimension"]) == (2, 7, None)
    else:
        assert "2 <= dimension <= 7" in out
        assert "stopped by the user" in out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log"]


def test_ctrl_c_stops_a_sweep_between_whole_lines(stub_process, tmp_path):
    environment = os.environ | {"NAP": "60", "LOG": str(tmp_path / "log")}
    file, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    file.write_text(f"{QUICK}\n{SLOW}\n")
    process = stub_process("sweep", file, "--out", out, env=environment)
    code, stdout, err = interrupt_when(process, tmp_path / "log")
    assert (code, stdout) == (130, "")
    assert "stopped at line 2 of 2; the same command goes on" in err
    assert [json.loads(line)["asked"] for line in out.read_text().splitlines()] == [QUICK]


def test_a_reader_that_goes_away(tmp_path):
    """As in `neuromanifold verify ... | head -1`, with the reader gone before the first line."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "neuromanifold.oracle", "--help"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_full_disk_is_not_an_answer():
    command = [sys.executable, "-m", "neuromanifold.oracle", "dimension", "nonsense", "--json"]
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_closed_outputs(stub_process):
    command = f'"{sys.executable}" -m neuromanifold.oracle dimension nonsense'
    for closing in (">&-", "2>&-", ">&- 2>&-", "<&-"):
        assert subprocess.run(["sh", "-c", f"{command} {closing}"], capture_output=True, timeout=60).returncode == 2
