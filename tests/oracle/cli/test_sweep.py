"""Sweeps: each line answered once, journal first, resumed after anything."""

import io
import json
import os
import sys
import time

import pytest

LINES = [f"lightning d=2,2 a=1 t={t}" for t in (2, 3, 4, 5, 6)]


@pytest.fixture
def sweep(stub, tmp_path, monkeypatch):
    """Sweep some lines into tmp_path/out.jsonl; also returns what was asked of the oracle this time."""

    def run(lines, *options):
        file, log = tmp_path / "in.txt", tmp_path / "log"
        file.write_text("".join(f"{line}\n" for line in lines))
        log.write_text("")
        monkeypatch.setenv("LOG", str(log))
        ran = stub("sweep", str(file), "--out", str(tmp_path / "out.jsonl"), *options)
        return ran, log.read_text().splitlines()

    return run


def entries(tmp_path):
    return [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]


def test_one_object_a_line_in_order(sweep, tmp_path):
    ran, asked = sweep(["# a comment", "", *LINES[:2], f"  {LINES[2]}   # and another\r"])
    assert (ran.code, ran.out) == (0, "")
    assert asked == LINES[:3]
    found = entries(tmp_path)
    assert [e["asked"] for e in found] == [*LINES[:2], f"{LINES[2]}   # and another"]
    assert [e["spec"] for e in found] == LINES[:3]
    keys = "schema asked seed spec dimension label lower upper parameters redundancy evidence seconds"
    assert all(list(e) == keys.split() for e in found)
    assert "3 lines: 1 formula, 1 numerical, 1 proven\n  open by 5: lightning d=2,2 a=1 t=4\n" in ran.err


def test_poison_is_reported_and_the_sweep_goes_on(sweep, tmp_path):
    ran, _ = sweep([LINES[4], "nonsense", LINES[0]], "--json")
    assert ran.code == 3
    first, second, third = entries(tmp_path)
    assert (first["spec"], first["exit"], first["error"]) == (LINES[4], 3, "RuntimeError: broken\\nin two lines")
    assert (second["spec"], second["exit"]) == (None, 2)
    assert third["label"] == "proven"
    assert json.loads(ran.out) == {"schema": 1, "lines": 3, "labels": {"proven": 1}, "errors": 2, "open": {}}


def test_equal_networks_are_asked_once_and_answered_for_each(sweep, tmp_path):
    _, asked = sweep([LINES[0], LINES[1], LINES[0], "lightning  d=2,2  t=2 a=1"])
    assert asked == LINES[:2]
    first, _, third, fourth = entries(tmp_path)
    assert first == third
    assert {**fourth, "asked": LINES[0]} == first


def test_a_rerun_does_only_what_is_missing(sweep, tmp_path):
    sweep(LINES[:2])
    before = (tmp_path / "out.jsonl").read_text()
    ran, asked = sweep([LINES[2], *LINES[:2], LINES[0]])
    assert asked == [LINES[2]]
    after = (tmp_path / "out.jsonl").read_text()
    assert after.startswith(before)
    assert [e["asked"] for e in entries(tmp_path)] == [*LINES[:2], LINES[2], LINES[0]]
    assert "4 lines: 1 formula, 1 numerical, 2 proven" in ran.err


def test_another_seed_is_another_question(sweep, tmp_path):
    sweep(LINES[:2])
    _, asked = sweep(LINES[:2], "--seed", "7")
    assert asked == LINES[:2]
    assert [e["seed"] for e in entries(tmp_path)] == [0, 0, 7, 7]


def test_a_torn_last_line_is_answered_again(sweep, tmp_path):
    sweep(LINES[:3])
    out = tmp_path / "out.jsonl"
    whole = out.read_bytes()
    cut = whole.rindex(b"\n", 0, -1) + 1
    for keep in (cut + 1, cut + 5, cut + 30, len(whole) - 1):
        out.write_bytes(whole[:keep])
        _, asked = sweep(LINES[:3])
        assert asked == LINES[2:3]
        assert [e["asked"] for e in entries(tmp_path)] == LINES[:3]


@pytest.mark.parametrize(
    "content", [b"my thesis", b"my thesis\n", b'{"schema": 2, "asked": "x"}\n', b'{"a": 1}\n', b"[" * 100_000 + b"\n"]
)
def test_a_foreign_file_is_left_alone(sweep, tmp_path, content):
    (tmp_path / "out.jsonl").write_bytes(content)
    ran, asked = sweep(LINES)
    assert (ran.code, asked) == (2, [])
    assert "is not the answer of a sweep" in ran.err
    assert (tmp_path / "out.jsonl").read_bytes() == content


def test_nothing_asked_is_5(sweep):
    assert sweep(["# nothing", ""])[0].code == 5


def test_files_that_cannot_be(stub, tmp_path):
    (tmp_path / "in").write_text(LINES[0])
    for arguments in ((tmp_path / "no", "--out", tmp_path / "o"), (tmp_path / "in", "--out", tmp_path / "no" / "o"),
                      (tmp_path / "in", "--out", tmp_path), (tmp_path, "--out", tmp_path / "o")):  # fmt: skip
        ran = stub("sweep", *map(str, arguments))
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert str(tmp_path) in ran.err


def test_stdin(stub, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + LINES[0].encode())))
    assert stub("sweep", "-", "--out", str(tmp_path / "out.jsonl")).code == 0
    assert [e["asked"] for e in entries(tmp_path)] == LINES[:1]


def test_a_full_disk_loses_no_finished_answer(sweep, tmp_path, monkeypatch):
    sweep(LINES[:1])
    before = (tmp_path / "out.jsonl").read_bytes()
    write = os.write

    def full(file, data):
        if b"schema" not in data:
            return write(file, data)
        write(file, data[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    ran, _ = sweep(LINES[:2])
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "No space left" in ran.err
    assert (tmp_path / "out.jsonl").read_bytes() == before


def test_kill_9_loses_no_finished_answer(stub_process, tmp_path):
    """Killed again and again, the sweep comes to its end, asks each network at most once more than it was killed."""
    slow = [f"lightning d=2,{n} a=1 t=8" for n in range(2, 10)]
    file, out, log = tmp_path / "in.txt", tmp_path / "out.jsonl", tmp_path / "log"
    file.write_text("\n".join(slow))
    environment = os.environ | {"NAP": "0.05", "LOG": str(log)}
    kills = 0
    finished = []
    for goal in (1, 3, 5):
        process = stub_process("sweep", file, "--out", out, env=environment)
        deadline = time.monotonic() + 60
        while not (out.exists() and out.read_bytes().count(b"\n") >= goal):
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.kill()
        process.wait()
        kills += 1
        lines = out.read_text().split("\n")[:-1]
        assert lines[: len(finished)] == finished
        finished = lines
    process = stub_process("sweep", file, "--out", out, env=environment)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert [json.loads(line)["asked"] for line in out.read_text().splitlines()] == slow
    assert len(log.read_text().splitlines()) <= len(slow) + kills


def test_two_sweeps_do_not_share_a_file(stub_process, stub, tmp_path):
    file, out, log = tmp_path / "in.txt", tmp_path / "out.jsonl", tmp_path / "log"
    file.write_text("lightning d=2,2 a=1 t=8")
    stub_process("sweep", file, "--out", out, env=os.environ | {"NAP": "60", "LOG": str(log)})
    deadline = time.monotonic() + 60
    while not log.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    ran = stub("sweep", str(file), "--out", str(out))
    assert ran.code == 2
    assert "another sweep" in ran.err
