"""The reference tables: 256 networks of sixteen kinds computed by another program, and published values."""

import csv
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle import dimension as ask
from neuromanifold.verifiers import certificate, replay
from neuromanifold.verifiers.certificate import dumps, prove_bounds

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
OPEN = (ROOT / "oracle" / "OPEN.md").read_text()
ALWAYS = {"single", "single-softmax", "deep", "deep-bottleneck", "deep-softmax", "one-token", "skip"}


def rows():
    with (DATA / "dimensions.jsonl").open() as file:
        table = [json.loads(line) for line in file]
    with (DATA / "literature.csv").open(newline="") as file:
        table += [{"kind": "literature", **row} for row in csv.DictReader(file)]
    return [(row["kind"], row["spec"], int(row["dimension"]), row.get("parameters")) for row in table]


def test_every_row_is_right_and_replays():
    counts = Counter()
    for kind, spec, dimension, parameters in rows():
        network = parse(spec)
        assert parameters is None or network.parameters == parameters
        proof = prove_bounds(network)
        assert proof.lower <= dimension <= proof.upper, spec
        if proof.lower == proof.upper:
            counts[kind, "proven"] += 1
        else:
            assert kind not in ALWAYS, spec
            assert f"`{spec}`" in OPEN, f"{spec} is open, with no line in oracle/OPEN.md"
            counts[kind, "open"] += 1
        verdict = replay.replay(dumps(proof.certificate))
        assert (verdict.verdict, verdict.lower, verdict.upper) == ("valid", proof.lower, proof.upper), (spec, verdict)
    total = sum(counts.values())
    proven = sum(n for (_, state), n in counts.items() if state == "proven")
    print(f"{proven} of {total} rows proven")
    assert total == 256 + 44
    assert proven >= 0.98 * total
    assert all(counts[kind, "proven"] == 16 for kind in ALWAYS)


@pytest.mark.parametrize("spec", ["softmax d=10,10,10 a=2 t=3", "lightning d=6,6,6,6,6,6 a=2,2,2,2,2 t=3", "lightning d=4,4 a=2 t=1"])
def test_the_checker_by_itself(spec, tmp_path):
    """One file, the standard library only, nothing installed."""
    path = tmp_path / "certificate.json"
    path.write_text(dumps(prove_bounds(parse(spec)).certificate))
    command = [sys.executable, "-I", "-S", str(ROOT / "verifiers" / "replay.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": valid: " in done.stdout
    mutant = json.loads(path.read_text())
    mutant["claim"]["lower"] -= 1
    path.write_text(json.dumps(mutant))
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and ": invalid: " in done.stdout


def test_only_what_the_checker_can_replay_is_proven(monkeypatch):
    assert certificate.REPLAYED_PARAMETERS == replay.MAX_PARAMETERS
    monkeypatch.setattr(certificate, "REPLAYED_PARAMETERS", 10)
    answer = ask("lightning d=3,4,3 a=2 t=3 bias=q")
    assert (answer.lower, answer.label, answer.upper) == (0, None, answer.parameters)


@pytest.mark.parametrize(
    ("spec", "dimension"),
    [
        ("lightning d=2,2,2 a=2 t=4 heads=3,2 skip rope norm=rms ffn=1:3", 48),
        ("softmax d=2,2,2 a=1,4 t=4 heads=2,4 kv=2 skip norm=rms ffn=2:swiglu", 58),
    ],
)
def test_deep_stacks_with_norms_are_looked_at_with_fewer_tokens(spec, dimension):
    """All roots of four tokens exist at one input of 65536, those of two at one of 256."""
    proof = prove_bounds(parse(spec))
    assert (proof.lower, proof.upper) == (dimension, dimension)
    assert proof.certificate["lower"]["tokens"] < 4
    assert replay.replay(dumps(proof.certificate)).verdict == "valid"


def test_inputs_that_run_out_are_used_whole():
    """Where roots exist too seldom for as many inputs as wanted, those that there are give an honest bound."""
    proof = prove_bounds(parse("lightning d=3,3,3 a=1 t=4 heads=2 skip bias=o norm=layer ffn=3:2,1:2"))
    assert 0 < proof.lower <= proof.upper
    assert replay.replay(dumps(proof.certificate)).verdict == "valid"
