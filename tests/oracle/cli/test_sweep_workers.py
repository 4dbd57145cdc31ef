"""Sweeps on several processes and on a real Dask cluster: the same file, whoever answers and whoever is killed."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("processes are looked up in /proc", allow_module_level=True)

KILLER = "lightning d=2,2 a=1 t=9"
SLOW = [f"lightning d=2,{n} a=1 t=8" for n in range(2, 10)]
MIXED = ["lightning d=2,2 a=1 t=8", "nonsense", *[f"lightning d=2,{n} a=1 t=2" for n in range(2, 9)], "lightning d=2,2 a=1 t=6"]


def read(path):
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for entry in found:
        entry.pop("seconds", None)
    return found


def children(pid):
    """The worker processes of a sweep."""
    found = []
    for entry in [p.name for p in Path("/proc").iterdir()]:
        try:
            with open(f"/proc/{entry}/stat") as file:  # noqa: PTH123
                parent = int(file.read().rpartition(")")[2].split()[1])
            with open(f"/proc/{entry}/cmdline") as file:  # noqa: PTH123
                spawned = "spawn_main" in file.read()
        except (OSError, ValueError):
            continue
        if parent == pid and spawned:
            found.append(int(entry))
    return found


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def start(stub_process, tmp_path):
    def run(lines, *options, nap="0.05", out="out.jsonl"):
        file = tmp_path / "in.txt"
        file.write_text("".join(f"{line}\n" for line in lines))
        environment = os.environ | {"NAP": nap, "LOG": str(tmp_path / "log")}
        return stub_process("sweep", file, "--out", tmp_path / out, *options, env=environment)

    return run


def finish(process):
    _, err = process.communicate(timeout=60)
    return process.returncode, err


def test_the_file_does_not_depend_on_the_workers(start, tmp_path):
    """The first line is the slowest, so that with two processes the others are answered before their turn."""
    for jobs in ("1", "2"):
        code, err = finish(start(MIXED, "--jobs", jobs, nap="0.5", out=f"{jobs}.jsonl"))
        assert code == 3, err
    assert read(tmp_path / "1.jsonl") == read(tmp_path / "2.jsonl")
    assert not list(tmp_path.glob("*.ahead"))


def test_a_network_that_kills_its_process_is_reported_and_skipped(start, tmp_path):
    code, err = finish(start([*SLOW[:3], KILLER, *SLOW[3:]], "--jobs", "2"))
    assert code == 3, err
    found = read(tmp_path / "out.jsonl")
    assert [e["asked"] for e in found] == [*SLOW[:3], KILLER, *SLOW[3:]]
    assert ["error" in e for e in found] == [False] * 3 + [True] + [False] * 5
    assert "killed or crashed" in found[3]["error"]


def test_kill_9_of_a_worker_loses_nothing(start, tmp_path):
    process = start(SLOW, "--jobs", "2", nap="0.3")
    until(lambda: (tmp_path / "log").exists())
    os.kill(children(process.pid)[0], signal.SIGKILL)
    code, err = finish(process)
    assert code == 0, err
    assert [(e["asked"], e["label"]) for e in read(tmp_path / "out.jsonl")] == [(line, "proven") for line in SLOW]


def test_kill_9_of_the_parent_loses_nothing_and_leaves_no_worker(start, tmp_path):
    """The first line is answered last: what the others came to is in the second journal."""
    first = "lightning d=2,2 a=1 t=8"
    quick = [f"lightning d=2,{n} a=1 t=2" for n in range(2, 9)]
    process = start([first, *quick], "--jobs", "2", nap="30")
    ahead = tmp_path / "out.jsonl.ahead"
    until(lambda: ahead.exists() and ahead.read_bytes().count(b"\n") >= 4)
    spawned = children(process.pid)
    assert len(spawned) == 2
    process.kill()
    process.wait()
    until(lambda: all(map(gone, spawned)), 20)
    kept = [json.loads(line)["spec"] for line in ahead.read_text().splitlines()]
    (tmp_path / "log").unlink()
    code, err = finish(start([first, *quick], nap="0"))
    assert code == 0, err
    asked = (tmp_path / "log").read_text().splitlines()
    assert not set(asked) & set(kept)
    assert [e["asked"] for e in read(tmp_path / "out.jsonl")] == [first, *quick]
    assert not ahead.exists()


def test_ctrl_c_stops_the_workers_at_once(start, tmp_path):
    process = start(SLOW, "--jobs", "2", nap="60")
    until(lambda: (tmp_path / "log").exists())
    spawned = children(process.pid)
    process.send_signal(signal.SIGINT)
    code, err = finish(process)
    assert (code, "stopped at line 1 of 8" in err) == (130, True)
    until(lambda: all(map(gone, spawned)), 20)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--jobs", "0"], "not a number of processes"),
        (["--jobs", "2", "--dask", "tcp://127.0.0.1:1"], "exclude each other"),
    ],
)
def test_workers_that_cannot_be(stub, tmp_path, options, reason):
    (tmp_path / "in").write_text(SLOW[0])
    ran = stub("sweep", str(tmp_path / "in"), "--out", str(tmp_path / "out"), *options)
    assert (ran.code, reason in ran.err, (tmp_path / "out").exists()) == (2, True, False)


def test_no_scheduler_is_a_usage_error(stub, tmp_path, monkeypatch):
    from neuromanifold.oracle import executors

    monkeypatch.setattr(executors, "CONNECT_SECONDS", 1)
    (tmp_path / "in").write_text(SLOW[0])
    ran = stub("sweep", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--dask", "tcp://127.0.0.1:1")
    assert (ran.code, ran.err.count("\n"), "no scheduler answers there" in ran.err) == (2, 1, True)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", protocol="tcp", dashboard_address="127.0.0.1:0"
    ) as running:
        yield running


def test_dask(cluster, process, tmp_path):
    """Two workers over TCP, one of them killed on the way: the file of one process here."""
    lines = ["nonsense", *[f"lightning d=2,{n} a=1 t=2" for n in range(1, 9)], "lightning d=3,3,3 a=2,2 t=3"]
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines))
    assert process("sweep", tmp_path / "in", "--out", tmp_path / "here", "--no-store").code == 2
    cluster.workers[0].process.process.kill()
    ran = process("sweep", tmp_path / "in", "--out", tmp_path / "dask", "--no-store", "--dask", cluster.scheduler_address)
    assert ran.code == 2, ran.err
    assert read(tmp_path / "here") == read(tmp_path / "dask")
