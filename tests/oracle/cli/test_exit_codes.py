"""Exit codes, JSON and text of `dimension`: what follows from which answer."""

import json

import pytest

PROVEN, FORMULA, NUMERICAL, UNKNOWN, CRASH, CONTRADICTION = (f"lightning d=2,2 a=1 t={t}" for t in range(2, 8))
ANSWERS = {PROVEN: "proven", FORMULA: "formula", NUMERICAL: "numerical", UNKNOWN: None}
KEYS = ["schema", "spec", "dimension", "label", "lower", "upper", "parameters", "redundancy", "evidence", "seconds"]


@pytest.mark.parametrize("spec", ANSWERS)
def test_an_answer_is_one_object_and_exit_0(stub, spec):
    ran = stub("dimension", spec, "--json")
    assert ran.code == 0
    assert ran.err == ""
    answer = json.loads(ran.out)
    assert list(answer) == KEYS
    assert answer["schema"] == 1
    assert answer["label"] == ANSWERS[spec]
    assert ran.out.count("\n") == 1


@pytest.mark.parametrize("spec", ANSWERS)
@pytest.mark.parametrize("required", ["proven", "formula", "numerical"])
def test_require(stub, spec, required):
    order = ["proven", "formula", "numerical", None]
    enough = order.index(ANSWERS[spec]) <= order.index(required)
    ran = stub("dimension", spec, "--require", required)
    assert ran.code == (0 if enough else 4)
    assert ("required was" in ran.err) == (not enough)
    assert spec in ran.out


def test_text_says_label_bounds_and_how_to_recheck(stub):
    assert stub("dimension", PROVEN).out == (
        "lightning d=2,2 a=1 t=2\n"
        "\n"
        "  dimension   7  proven\n"
        "  proven      7 <= dimension <= 7\n"
        "  parameters  8, of which 1 redundant: 1 by gauge\n"
        "  because     >= 2: point of seed 0\n"
        "\n"
        "  proven: an exact lower and an exact upper bound meet, and a certificate implies both.\n"
        "  recheck: add --certificate FILE, then: neuromanifold verify FILE\n"
    )
    assert "undecided: no theorem applies" in stub("dimension", UNKNOWN).out
    assert "2 <= dimension <= 7  (a gap of 5)" in stub("dimension", UNKNOWN).out


@pytest.mark.parametrize("spec", [CRASH, CONTRADICTION])
def test_a_crash_is_3_and_one_line(stub, spec, monkeypatch):
    ran = stub("dimension", spec)
    assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)
    assert "please report" in ran.err
    ran = stub("dimension", spec, "--json")
    assert ran.code == 3
    failed = json.loads(ran.out)
    assert list(failed) == ["schema", "spec", "asked", "error"]
    assert (failed["spec"], failed["asked"]) == (spec, spec)
    monkeypatch.setenv("NEUROMANIFOLD_TRACEBACK", "1")
    ran = stub("dimension", spec)
    assert ran.code == 3
    assert "Traceback (most recent call last)" in ran.err.split("\n", 1)[1]


def test_certificate_is_written_whole_or_not_at_all(stub, tmp_path):
    path = tmp_path / "c.json"
    ran = stub("dimension", PROVEN, "--certificate", str(path), "--seed", "5")
    assert ran.code == 0
    assert json.loads(path.read_text()) == {"spec": PROVEN, "seed": 5}
    assert f"neuromanifold verify {path}" in ran.out
    other = tmp_path / "none.json"
    ran = stub("dimension", FORMULA, "--certificate", str(other))
    assert ran.code == 4
    assert "there is no certificate" in ran.err
    assert not other.exists()
    for bad in (tmp_path, tmp_path / "nowhere" / "c.json", tmp_path / "c.json" / "d.json"):
        ran = stub("dimension", CRASH, "--certificate", str(bad))  # refused before anything is computed
        assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.json"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "a command is missing"),
        (["dimensoin", PROVEN], 'Did you mean "dimension"'),
        (["dimension"], "needs a network"),
        (["dimension", PROVEN, "more"], "more"),
        (["dimension", PROVEN, "--jsno"], "--json"),
        (["dimension", PROVEN, "--require", "proved"], "proven"),
        (["dimension", PROVEN, "--seed", "x"], "--seed"),
        (["dimension", PROVEN, "--seed", "-1"], "0 <= seed"),
        (["dimension", PROVEN, "--seed", "1" + "0" * 17], "0 <= seed"),
        (["dimension", PROVEN, "--seed", "1", "--seed", "2"], "--seed"),
        (["dimension", PROVEN, "--timeout", "nan"], "number of seconds"),
        (["dimension", PROVEN, "--timeout", "-1"], "number of seconds"),
        (["verify"], "at least one certificate"),
        (["sweep", "--bogus", "--out", "x"], "--bogus"),
        (["sweep", "-"], "--out"),
    ],
)
@pytest.mark.parametrize("json_mode", [False, True])
def test_usage_is_2_and_one_line(stub, arguments, expected, json_mode):
    ran = stub(*arguments, *(["--json"] if json_mode and arguments else []))
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert expected in ran.err
    assert "Traceback" not in ran.err
    if json_mode and arguments:
        failed = json.loads(ran.out)
        assert failed["schema"] == 1
        assert failed["error"]
    else:
        assert ran.out == ""


def test_help_and_version_are_results(stub):
    for arguments in (["--help"], ["-h"], ["dimension", "--help"], ["--version"]):
        ran = stub(*arguments)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.strip()


def test_a_crash_inside_the_parser_of_arguments_is_3_too(stub, monkeypatch):
    from neuromanifold.oracle import commands

    monkeypatch.setattr(commands, "names", lambda: 1 / 0)
    ran = stub("dimension", PROVEN)
    assert (ran.code, ran.err.count("\n")) == (3, 1)


@pytest.mark.parametrize(
    ("expected", "found", "code"),
    [
        ("proved", "proved", 0),
        ("refuted", "refuted", 0),
        ("unknown", "unknown", 0),
        ("unknown", "proved", 0),
        ("proved", "refuted", 1),
        ("unknown", "refuted", 1),
        ("proved", "unknown", 4),
        ("refuted", "unknown", 4),
        ("refuted", "proved", 3),  # a proof of what has a counterexample
    ],
)
def test_prove_compares_with_what_the_catalogue_expects(expected, found, code):
    from neuromanifold.oracle.commands.prove import exit_code

    assert exit_code(found, expected) == code


def test_worst_of_several_exit_codes():
    from neuromanifold.oracle.exits import worst

    assert worst([]) == 5
    order = [3, 1, 2, 4, 5, 0]
    for i, code in enumerate(order):
        assert worst(reversed(order[i:])) == code
