"""CITATION.cff, LICENSE, CHANGELOG.md and README.md say what the package says."""

import re
import tomllib
from pathlib import Path

from neuromanifold.oracle.theorems import registry
from neuromanifold.verifiers.certificate import VERSION

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_citation_names_this_version_and_the_paper():
    import yaml

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert cited["version"] == PROJECT["version"] and cited["license"] == PROJECT["license"]
    (paper,) = cited["references"]
    assert paper["title"] == "Geometry of Lightning Self-Attention: Identifiability and Dimension"
    assert [a["family-names"] for a in paper["authors"]] == ["Henry", "Marchetti", "Kohn"]
    assert paper["identifiers"][0]["value"].endswith("2408.17221")


def test_license_is_the_one_that_is_named():
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text()


def test_changelog_names_all_theorems_and_the_format():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert [t.id for t in registry() if f"`{t.id}`" not in text] == []
    assert f"version {VERSION}" in text
    assert re.findall(r"^### (\w+)$", text.partition("## Unreleased")[2], re.M)[:4] == ["Added", "Changed", "Fixed", "Soundness"]


def test_the_action_has_the_inputs_that_the_readme_gives():
    import yaml

    (given,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    inputs = yaml.safe_load((ROOT / "ci" / "action.yml").read_text())["inputs"]
    for step in yaml.safe_load(given):
        assert step["with"].keys() <= inputs.keys()


def test_links_of_the_readme_lead_somewhere():
    for page in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)]+)\)", (ROOT / page).read_text()):
            path, _, anchor = target.partition("#")
            assert (ROOT / path).exists(), target
            headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(), re.M) if anchor else []
            slugs = [re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings]
            assert not anchor or anchor in slugs, target
