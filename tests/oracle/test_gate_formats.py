"""The four formats: what they say, what they escape, and GitHub's limits."""

from __future__ import annotations

import io
import json
import re
import time
from pathlib import Path

import junitparser
import pytest
from neuromanifold.oracle.answer import Answer
from neuromanifold.oracle.exits import CommandError
from neuromanifold.oracle.gate.check import check_files, run_check
from neuromanifold.oracle.gate.claims import Claim, Statement
from neuromanifold.oracle.gate.github import MAX_SUMMARY, summary_markdown, workflow_commands
from neuromanifold.oracle.gate.junit import junit_xml
from neuromanifold.oracle.gate.report import FileReport, Report
from neuromanifold.oracle.gate.verdict import Finding, Result

from .exact_rank import exact

FILE = """
[[claim]]
id = "right"
network = "lightning d=3,3 a=2 t=2 skip"
dimension = 16

[[claim]]
id = "wrong"
network = "lightning d=3,3 a=2 t={t} skip"
where = { t = "2..3" }
dimension = 17
source = "the rebuttal"

[[claim]]
id = "known-wrong"
network = "lightning d=3,3 a=2 t=2 skip"
dimension = 17
expect = "refuted"

[[claim]]
id = "open"
network = "lightning d=1,1 a=1 t=3"
dimension = 1

[[claim]]
id = "empty"
network = "lightning d=1,1 a=1 t={t}"
where = { t = "1..3" }
when = "t > 3"
dimension = 1

[[claim]]
id = "broken"
network = "lightning d=9,9 a=1 t=2"
dimension = 1

[[claim]]
id = "later"
network = "softmax d=3,3 a=2 t=2 skip"
degree = 3
"""
OUTCOMES = {"right": None, "wrong": "refuted", "known-wrong": None, "open": "undecided", "empty": "vacuous",
            "broken": "crashed", "later": "unsupported"}  # fmt: skip


def ask(spec):
    if "d=9,9" in spec:
        raise RuntimeError("boom\x1b[31m\n::error::x <&]]>")
    return Answer(spec, None, None, 0, 3, 3) if "t=3" in spec and "d=1,1" in spec else exact(spec)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE)
    return path


def rendered(path, form) -> str:
    out = io.StringIO()
    assert run_check([path], format=form, stdout=out, ask=ask) == 3
    return out.getvalue()


def test_text(file):
    text = rendered(file, "text")
    lines = text.splitlines()
    assert lines[0] == "x.claims.toml"
    assert "  ok   right: holds (1 instance: 1 holds)" in lines
    assert "  FAIL line 7: wrong: refuted (2 instances: 2 refuted)" in lines
    assert "         smallest counterexample: lightning d=3,3 a=2 t=2 skip   (t=2)" in lines
    assert "         claimed:   dimension = 17" in lines
    assert "         found:     dimension = 16 (proven)" in lines
    assert (
        '         reproduce: neuromanifold dimension "lightning d=3,3 a=2 t=2 skip" --certificate counterexample.json'
        in lines
    )
    assert any(line.startswith('         certificate: {"lower": ') for line in lines)
    assert "         source:    the rebuttal" in lines
    assert "  ok   known-wrong: refuted, as expected (1 instance: 1 refuted)" in lines
    for claim, outcome in OUTCOMES.items():
        assert outcome is None or re.search(rf"^  FAIL line \d+: {claim}: {outcome}\b", text, re.MULTILINE)
    assert (
        lines[-1]
        == "2 of 7 claims passed (7 networks checked), 1 refuted, 1 undecided, 1 vacuous, 1 crashed, 1 unsupported"
    )
    assert all(c.isprintable() or c == "\n" for c in text)


def test_json(file):
    value = json.loads(rendered(file, "json"))
    assert (value["schema"], value["exit"]) == (1, 3)
    claims = {c["id"]: c for c in value["files"][0]["claims"]}
    assert {k: None if c["passed"] else c["outcome"] for k, c in claims.items()} == OUTCOMES
    shown = claims["wrong"]["shown"]
    assert shown["spec"] == "lightning d=3,3 a=2 t=2 skip" and shown["values"] == {"t": 2}
    assert shown["certificate"]["spec"] == shown["spec"] and shown["answer"]["dimension"] == 16
    assert {k: c["exit"] for k, c in claims.items()} == dict(zip(OUTCOMES, (0, 1, 0, 4, 5, 3, 2), strict=True))


def test_junit_is_read_back_by_a_junit_parser(file, tmp_path):
    out = tmp_path / "junit.xml"
    run_check([file], junit=out, stdout=io.StringIO(), ask=ask)
    (suite,) = junitparser.JUnitXml.fromfile(str(out))
    assert (suite.name, suite.tests, suite.failures, suite.errors, suite.skipped) == ("x.claims.toml", 7, 3, 2, 0)
    cases = {case.name: case for case in suite}
    assert {k: c.result[0].type if c.result else None for k, c in cases.items()} == OUTCOMES
    kinds = {k: type(c.result[0]) for k, c in cases.items() if c.result}
    assert kinds["wrong"] is kinds["open"] is kinds["empty"] is junitparser.Failure
    assert kinds["broken"] is kinds["later"] is junitparser.Error
    assert "smallest counterexample: lightning d=3,3 a=2 t=2 skip" in cases["wrong"].result[0].text
    assert "boom\\x1b[31m\\n::error::x <&]]>" in cases["broken"].result[0].text


def test_github(file):
    lines = rendered(file, "github").splitlines()
    assert [re.match(r"::(\w+) file=x\.claims\.toml,line=(\d+),title=([a-z-]+)%3A (\w+)::", line).groups() for line in lines[:-1]] == [
        ("error", "32", "broken", "crashed"), ("error", "7", "wrong", "refuted"), ("error", "37", "later", "unsupported"),
        ("warning", "20", "open", "undecided"), ("warning", "25", "empty", "vacuous"),
    ]  # fmt: skip
    assert "%0Asmallest counterexample: lightning d=3,3 a=2 t=2 skip" in lines[1]


def test_the_summary_is_appended_worst_first_and_shows_text_literally(file, tmp_path):
    out = tmp_path / "summary.md"
    out.write_text("before\n")
    run_check([file], summary=out, stdout=io.StringIO(), ask=ask)
    text = out.read_text()
    assert text.startswith("before\n### neuromanifold check: exit 3\n")
    rows = re.findall(r"^\| ([a-z ]+) \| ([a-z&#0-9;-]+)<br>", text, re.MULTILINE)
    assert [r[0] for r in rows] == ["crashed", "refuted", "unsupported", "undecided", "vacuous", "pass", "pass"]
    assert "boom&#92;x1b&#91;31m&#92;n&#58;&#58;error" in text and "&#60;&#38;&#93;&#93;&#62;" in text


HOSTILE = "\x1b[31m|`<b>@x</b>`| ![](http://x) ]]> %0A::error::y\n::error::z\r\0\ud800\ufffe<br>"


def failures(count: int, text: str = "x") -> Report:
    claims = [Claim(f"claim {i}", i, (Statement("dimension", "1"),), source=text[:500]) for i in range(count)]
    outcomes = ("refuted", "undecided", "crashed", "vacuous", "unsupported")
    finding = Finding("refuted", None, text, text)
    return Report((FileReport(Path("a,b:c%d.toml"), (), tuple(
        Result(c, outcomes[i % 5], text, {outcomes[i % 5]: 1}, 1, 0, finding) for i, c in enumerate(claims)
    )),))  # fmt: skip


@pytest.mark.parametrize("text", ["x", HOSTILE, "x" * 20_000], ids=["short", "hostile", "long"])
def test_ten_thousand_failures_stay_within_githubs_limits(text):
    start = time.process_time()
    report = failures(10_000, text)
    lines = list(workflow_commands(report))
    commands = [line for line in lines if line.startswith("::")]
    assert len([c for c in commands if c.startswith("::error ")]) == 10
    assert len([c for c in commands if c.startswith("::warning ")]) == 10
    assert "crashed" in commands[0] and "5991 more" in commands[9] and "3991 more" in commands[19]
    assert all(len(line) < 20_000 and "\n" not in line and "\r" not in line for line in lines)
    assert "file=a%2Cb%3Ac%25d.toml,line=" in commands[0]
    summary = summary_markdown(report)
    assert len(summary.encode()) <= MAX_SUMMARY < 1 << 20
    assert re.findall(r"^\| (\w+) \|", summary, re.MULTILINE)[0] == "crashed"
    assert re.search(r"^\d+ more rows are left out", summary, re.MULTILINE)
    for line in summary.splitlines()[6:-1]:
        assert (
            not line
            or line.endswith("left out: GitHub shows at most 1 MiB.")
            or re.fullmatch(r"\|( [^|`<>@\[\]!]+(<br>[^|`<>@\[\]!]+)* \|){3}", line)
        )
    xml = junit_xml(report)
    (suite,) = junitparser.JUnitXml.fromstring(xml)
    assert (suite.tests, suite.failures, suite.errors) == (10_000, 6_000, 4_000)
    assert time.process_time() - start < 20


def test_a_full_summary_file_gets_nothing_more(tmp_path):
    assert summary_markdown(failures(10), room=100) == ""
    assert "10 more rows" not in summary_markdown(failures(10))


def test_what_cannot_be_written_is_refused_before_any_work(file):
    for options in ({"junit": "/nowhere/x.xml"}, {"summary": "/nowhere/x.md"}, {"format": "html"}):
        with pytest.raises(CommandError):
            run_check([file], stdout=io.StringIO(), ask=lambda spec: pytest.fail("asked"), **options)


def test_paths_are_escaped_in_every_format(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("a\n::error::b\x1b[31m.toml")
    path.write_text('[[claim]]\nnetwork="lightning d=1,1 a=1 t=2"\ndimension=1')
    for form in ("text", "json", "github"):
        out = io.StringIO()
        assert run_check([path], format=form, junit="j.xml", stdout=out, ask=exact) == 0
        assert all(c.isprintable() or c == "\n" for c in out.getvalue())
        assert not any(line.startswith("::error::b") for line in out.getvalue().splitlines())
    (suite,) = junitparser.JUnitXml.fromfile("j.xml")
    assert suite.name == "a\\n::error::b\\x1b[31m.toml"


def test_names_of_all_files_are_in_the_report(file):
    assert [str(f.path) for f in check_files([file, "missing.toml"], ask=ask).files] == [str(file), "missing.toml"]
