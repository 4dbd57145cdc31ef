"""The pytest plugin: claim files as items, the fixture, under xdist, and nothing heavy in sessions that do not use it."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

pytest_plugins = ["pytester"]

CLAIMS = """
[[claim]]
id = "right"
network = "lightning d={d},{d} a=1 t=2"
where = { d = "1..3" }
dimension = "2*d - 1 + d**2 - 1"

[[claim]]
id = "wrong"
network = "lightning d={d},{d} a=1 t=2"
where = { d = "1..3" }
dimension = "2*d - 1 + d**2"

[[claim]]
id = "known-wrong"
network = "lightning d=2,2 a=1 t=2"
dimension = 7
expect = "refuted"

[[claim]]
network = "softmax d=2,2 a=1 t=2"
degree = 3

[[claim]]
id = "empty"
network = "lightning d=2,2 a={a} t=2"
where = { a = [1] }
when = "a > 1"
dimension = 1
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    (pytester.path / "x.claims.toml").write_text(CLAIMS)
    pytester.makepyfile(
        test_it="""
        from neuromanifold.oracle.testing import assert_dimension

        def test_fixture(dimension_oracle):
            assert dimension_oracle("lightning d=2,2 a=1 t=2").dimension == 6
            assert dimension_oracle("lightning d=2,2 a=1 t=2") is dimension_oracle("lightning d=2,2 a=1 t=2")

        def test_helper():
            assert_dimension("lightning d=2,2 a=1 t=2", 7)
        """
    )
    return pytester


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_claims_are_items(project, workers):
    result = project.runpytest_subprocess("-p", "no:cacheprovider", "--junitxml=out.xml", *workers)
    result.assert_outcomes(passed=3, failed=4)
    text = result.stdout.str()
    assert "smallest counterexample: lightning d=1,1 a=1 t=2   (d=1)" in text
    assert "found:     dimension = 1 (proven)" in text
    assert 'reproduce: neuromanifold dimension "lightning d=1,1 a=1 t=2"' in text
    assert "no instance: when leaves out all 1 points of where" in text
    assert '  reproduce: neuromanifold dimension "lightning d=2,2 a=1 t=2" --require proven' in text
    assert "Traceback" not in text and "judge(" not in text
    cases = ElementTree.parse(project.path / "out.xml").getroot().iter("testcase")
    outcomes = {
        case.get("name"): prop.get("value")
        for case in cases
        for prop in case.iter("property")
        if prop.get("name") == "claim_outcome"
    }
    assert outcomes == {
        "right": "holds", "wrong": "refuted", "known-wrong": "refuted", "claim 4": "unsupported", "empty": "vacuous"
    }  # fmt: skip


def test_claims_are_selected_by_name_and_other_toml_files_are_left_alone(project):
    (project.path / "other.toml").write_text("x = ")
    result = project.runpytest_subprocess("-p", "no:cacheprovider", "-k", "right", "-v")
    result.assert_outcomes(passed=1, deselected=6)
    result.stdout.fnmatch_lines(["x.claims.toml::right PASSED*"])


@pytest.mark.parametrize(
    "text", ["", "[[claim]]\nid = 1\n", "x = ", "[[claim]]\nnetwork = 'lightning d=2,2 a=1 t=2'\n"]
)
def test_a_bad_file_stops_the_session(project, text):
    (project.path / "bad.claims.toml").write_text(text)
    result = project.runpytest_subprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(errors=1)


def test_the_plugin_costs_a_foreign_session_nothing(pytester):
    """With the plugin loaded and not used, nothing heavy is imported; a session that asks the oracle shows that this test can fail."""
    heavy = {"numpy", "jax", "sympy", "z3", "rich", "hypothesis"}
    script = "import sys, pytest; pytest.main(['-q', '-p', 'no:hypothesispytest', *sys.argv[1:]]); print('LOADED', *sys.modules)"
    pytester.makepyfile(
        test_plain="def test_plain(): pass",
        test_uses="def test_uses(dimension_oracle): dimension_oracle('lightning d=1,1 a=1 t=2')",
    )
    for file, loads in (("test_plain.py", False), ("test_uses.py", True)):
        done = subprocess.run(
            [sys.executable, "-c", script, file], cwd=pytester.path, capture_output=True, text=True, check=True
        )
        loaded = set(done.stdout.partition("LOADED")[2].split())
        assert "neuromanifold.oracle.pytest_plugin" in loaded
        assert bool(loaded & heavy) == loads, loaded & heavy
