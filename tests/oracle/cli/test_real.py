"""The command line with the real oracle behind it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SPEC = "lightning d=3,3,3 a=2 t=3"
LARGE = "lightning d=512,512,512 a=64 t=16"


def without_times(text):
    return re.sub(r'"seconds": [0-9.e-]+|[0-9.]+ s\b', "TIME", text)


@pytest.mark.parametrize("arguments", [("dimension", SPEC, "--json"), ("dimension", SPEC), ("explain", SPEC)])
def test_same_spec_and_seed_same_bytes(process, arguments):
    runs = [process(*arguments, "--seed", "3", env=os.environ | {"PYTHONHASHSEED": n}) for n in ("1", "2")]
    assert [run.code for run in runs] == [0, 0]
    assert without_times(runs[0].out) == without_times(runs[1].out)


def test_from_question_to_independent_replay(real, tmp_path):
    path = tmp_path / "c.json"
    ran = real("dimension", SPEC, "--require", "proven", "--certificate", str(path), "--json")
    assert ran.code == 0
    answer = json.loads(ran.out)
    assert (answer["dimension"], answer["lower"], answer["upper"], answer["label"]) == (23, 23, 23, "proven")
    ran = real("verify", str(path), "--json")
    verdict = json.loads(ran.out)
    assert (ran.code, verdict["verdict"], verdict["spec"], verdict["lower"]) == (0, "valid", SPEC, 23)
    checker = [sys.executable, "-I", "-S", ROOT / "verifiers" / "replay.py", path]
    assert subprocess.run(checker, capture_output=True, timeout=60).returncode == 0


def test_verify_from_python(tmp_path):
    from neuromanifold import oracle

    certificate = oracle.dimension(SPEC).certificate
    path = tmp_path / "c.json"
    path.write_text(json.dumps(certificate))
    assert [oracle.verify(c).verdict for c in (certificate, json.dumps(certificate), path)] == ["valid"] * 3
    assert oracle.verify("{}").verdict == "invalid"
    with pytest.raises(FileNotFoundError):
        oracle.verify(tmp_path / "nothing")


def test_verify_takes_the_worst(real, tmp_path):
    good, bad, nothing = tmp_path / "good", tmp_path / "bad", tmp_path / "nothing"
    real("dimension", SPEC, "--certificate", str(good))
    bad.write_text(good.read_text().replace('"upper":23', '"upper":22'))
    assert real("verify", str(good)).code == 0
    ran = real("verify", str(good), str(nothing))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    ran = real("verify", str(nothing), str(bad), str(good), "--json")
    assert ran.code == 1
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [line.get("verdict", "error") for line in lines] == ["error", "invalid", "valid"]
    for content in (b"", b"\xff\x00", b"[" * 100_000, b"null"):
        bad.write_bytes(content)
        ran = real("verify", str(bad))
        assert (ran.code, ran.err, ran.out.count("\n")) == (1, "", 1)


def test_too_large_to_prove_at_once_is_a_formula_with_its_hypotheses(real):
    ran = real("dimension", LARGE, "--timeout", "0", "--json", "--require", "formula")
    answer = json.loads(ran.out)
    assert (ran.code, answer["label"]) == (0, "formula")
    assert answer["lower"] < answer["dimension"] < answer["upper"]
    assert any(e["status"] == "unused" and e["note"] for e in answer["evidence"])


def test_explain_and_theorems(real):
    assert "23" in real("explain", SPEC).out
    listed = json.loads(real("theorems", "--json").out)["theorems"]
    for theorem in listed:
        shown = real("theorems", theorem["id"])
        assert (shown.code, shown.err) == (0, "")
        assert theorem["id"] in shown.out
        assert json.loads(real("theorems", theorem["id"], "--json").out)["schema"] == 1
    name = listed[0]["id"]
    ran = real("theorems", name[:-1] + "x")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean" in ran.err


def test_prove(real):
    claims = [json.loads(line) for line in real("prove", "--list", "--json").out.splitlines()]
    assert len(claims) >= 5
    quick = next(c["claim"] for c in claims if c["quick"] and c["expect"] == "proved")
    ran = real("prove", quick, "--json")
    outcome = json.loads(ran.out)
    assert (ran.code, outcome["claim"], outcome["status"]) == (0, quick, "proved")
    assert len(outcome["routes"]) >= 2
    ran = real("prove", quick[:-1])
    assert (ran.code, ran.out) == (2, "")


def test_sweep(real, tmp_path):
    file, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    file.write_text(f"{SPEC}\nlightning d=2,2 a=1 t=2\n")
    assert real("sweep", str(file), "--out", str(out)).code == 0
    assert [json.loads(line)["label"] for line in out.read_text().splitlines()] == ["proven", "proven"]
