"""Campaigns: the smallest counterexample, honest coverage, resumption after kill -9, crashes that leave their case."""

import json
import subprocess
import sys
import textwrap
import time

import pytest
from neuromanifold.oracle.exits import CommandError
from neuromanifold.oracle.fuzz.campaign import run
from neuromanifold.oracle.fuzz.case import Case
from neuromanifold.oracle.fuzz.lasting import lasting_workers
from neuromanifold.oracle.fuzz.load import targets
from neuromanifold.oracle.fuzz.report import text, to_json
from neuromanifold.oracle.journal import Journal
from neuromanifold.oracle.verify import verify

CONJECTURES = """
    import os
    from neuromanifold.oracle.fuzz import Domain, conjecture
    from neuromanifold.oracle import strategies as nm

    SMALL = Domain(kinds=("lightning",), max_parameters=16, max_layers=2, max_width=3, max_tokens=2, mechanisms=("causal",))

    @conjecture(SMALL, source="this test")
    def never_two_wide(network, answer):
        "no network with d_1 = 2 and t = 2"
        return not (network.d[1] == 2 and network.t == 2)

    @conjecture(SMALL, source="this test")
    def always(network, answer):
        "all is well"
        return True

    @conjecture(SMALL, source="this test", when=lambda n: n.d[0] > 100)
    def about_nothing(network, answer):
        "wide networks"
        return True

    @conjecture(SMALL, source="this test")
    def crashes(network, answer):
        "no network kills its process"
        if network.d[1] == 2 and network.causal:
            os._exit(9)
        return True

    @conjecture(SMALL, source="this test")
    def raises(network, answer):
        "no network raises"
        return 1 // (network.d[1] - 2) is not None

    @conjecture(nm.networks(("mlp",), max_parameters=20).filter(lambda n: n.l > 1), source="this test")
    def foreign(network, answer):
        "no polynomial network has d_1 = 2"
        return network.d[1] != 2
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(textwrap.dedent(CONJECTURES))
    return path


def fuzz(file, name, **options):
    (target,) = targets(f"{file}::{name}")
    return run(target, **options)


def test_the_smallest_counterexample(file):
    verdict = fuzz(file, "never_two_wide", examples=100)
    assert verdict.outcome == "refuted" and verdict.exit_code == 1
    assert verdict.counterexample == Case("lightning d=1,2 a=1 t=2")
    assert verdict.minimal and "nothing smaller refutes" in verdict.smallest
    assert verify(verdict.refutation.certificate).verdict == "valid"
    shown = text(verdict)
    assert 'neuromanifold dimension "lightning d=1,2 a=1 t=2" --certificate' in shown
    assert "def test_counterexample_to_never_two_wide():" in shown
    found = to_json(verdict)["counterexample"]
    assert found["minimal"] is True
    pasted = {}
    exec(found["test"], pasted)
    pasted["test_counterexample_to_never_two_wide"]()


def test_smallest_means_parameters_then_layers_then_tokens_then_the_line():
    lines = ["lightning d=1,1 a=1 t=1", "lightning d=1,1 a=1 t=2", "lightning d=1,2 a=1 t=1", "lightning d=2,1 a=1 t=1",
             "lightning d=1,1,1 a=1 t=1"]  # fmt: skip
    assert sorted(lines, key=lambda s: Case(s).size) == lines
    assert [Case(s).network.parameters for s in lines] == [3, 3, 4, 6, 6]


def test_a_survivor_says_what_was_covered(file):
    verdict = fuzz(file, "always", examples=25)
    assert (verdict.outcome, verdict.exit_code, verdict.decided) == ("survived", 0, 25)
    assert verdict.labels == {"proven": 25}
    assert verdict.coverage.rows["lightning"] == 25
    assert "lightning" in text(verdict) and "a=d" in text(verdict)
    assert verdict.coverage.region().startswith("parameters ")


def test_nothing_decided_is_vacuous(file):
    verdict = fuzz(file, "about_nothing", examples=5)
    assert (verdict.outcome, verdict.exit_code, verdict.decided) == ("vacuous", 5, 0)
    assert "left out" in text(verdict)


def test_an_exception_is_its_case_and_the_campaign_goes_on(file):
    verdict = fuzz(file, "raises", examples=25)
    assert (verdict.outcome, verdict.exit_code) == ("crashed", 3)
    assert verdict.counts["holds"] > 0 < verdict.counts["crashed"]
    assert "ZeroDivisionError" in text(verdict)


def test_a_strategy_of_the_user_is_sampled_and_shrunk(file):
    verdict = fuzz(file, "foreign", examples=60)
    assert verdict.outcome == "refuted" and not verdict.minimal
    assert verdict.counterexample.network.d[1] == 2


def test_the_same_seed_is_the_same_campaign(file):
    (target,) = targets(f"{file}::never_two_wide")
    first, second = run(target, examples=40), run(target, examples=40)
    with lasting_workers(2) as workers:
        third = run(target, examples=40, workers=workers)
    one, two, three = ({**to_json(v), "seconds": 0} for v in (first, second, third))
    assert one == two == three


def test_a_crash_leaves_its_case_in_the_journal_and_the_campaign_goes_on(file, tmp_path):
    out = tmp_path / "out.jsonl"
    with Journal(out, "fuzz") as journal, lasting_workers(1) as workers:
        verdict = fuzz(file, "crashes", examples=12, journal=journal, workers=workers)
    assert verdict.outcome == "crashed" and verdict.exit_code == 3
    assert verdict.counts["holds"] > 0
    entries = [json.loads(line) for line in out.read_text().splitlines()]
    started = [e["asked"] for e in entries if e["state"] == "started"]
    crashed = [e["asked"] for e in entries if e["state"] == "done" and e["outcome"] == "crashed"]
    assert crashed and all("causal" in s and s in started for s in crashed)
    assert len(started) == 12


def test_counterexamples_are_tried_first_by_later_runs(file, tmp_path):
    with Journal(tmp_path / "r.jsonl", "fuzz") as kept:
        found = fuzz(file, "never_two_wide", examples=100, regressions=kept).counterexample
    with Journal(tmp_path / "r.jsonl", "fuzz") as kept:
        verdict = fuzz(file, "never_two_wide", examples=100, seed=5, regressions=kept)
        assert len(kept.entries) == 1
    assert verdict.counterexample == found and verdict.counts == {"refuted": 1}


def test_kill_9_loses_and_repeats_nothing(file, tmp_path):
    """Killed in the middle and run again: each case is finished exactly once, and the verdict is that of a run in one go."""
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "neuromanifold.oracle", "fuzz", f"{file}::always", "--examples", "60", "--out", str(out), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (out.exists() and out.read_bytes().count(b'"done"') >= 5):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
    before = [json.loads(line) for line in out.read_text().split("\n")[:-1]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    after = [json.loads(line) for line in out.read_text().splitlines()]
    assert after[: len(before)] == before
    finished = [e["asked"] for e in after if e["state"] == "done"]
    assert len(finished) == len(set(finished)) == 60
    assert json.loads(done.stdout)["counts"] == {"holds": 60}


@pytest.mark.parametrize(
    ("name", "message"),
    [("mine.py", "which conjecture"), ("mine.py::nothing", "there is no such name; it has about_nothing, always"),
     ("mine.py::SMALL", "not decorated"), ("no.toml", "cannot be read"), ("no-such", "published.toml"),
     ("published.toml::softmax", "did you mean 'softmax-deep'")],
)  # fmt: skip
def test_wrong_targets_say_what_works(file, monkeypatch, name, message):
    monkeypatch.chdir(file.parent)
    with pytest.raises(CommandError, match=message):
        targets(name)


def test_the_command(tmp_path, capsys):
    from neuromanifold.oracle.__main__ import main

    claims = tmp_path / "claims.toml"
    claims.write_text('[[claim]]\nid = "x"\nnetwork = "lightning d={d},1 a=1 t=2"\nwhere = {d = "1..2"}\ndimension = "3*d-1"\n')
    assert main(["fuzz", str(claims), "--out", str(tmp_path / "o.jsonl"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["counterexample"]["spec"] == "lightning d=1,1 a=1 t=2"
    assert (tmp_path / "o.regressions.jsonl").exists() and (tmp_path / "o.jsonl").stat().st_size
    assert main(["fuzz"]) == 2
    assert main(["fuzz", str(claims), "--examples", "0"]) == 2
