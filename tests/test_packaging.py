"""The wheel holds exactly the files that git has in the three folders."""

import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("oracle", "verifiers", "numerics")
CARRIED = (".py", ".md", ".json", ".toml", ".typed")


def tracked():
    done = subprocess.run(["git", "ls-files", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return {line for line in done.stdout.splitlines() if (ROOT / line).exists()}


def test_wheel_has_every_file_of_git_and_no_other(tmp_path):
    subprocess.run(["bash", ROOT / "ci" / "wheel", tmp_path], check=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    inside = {n.removeprefix("neuromanifold/") for n in names if n.startswith("neuromanifold/")}
    new = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", *FOLDERS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert inside - set(new) == tracked()
    assert not [n for n in names if not n.startswith(("neuromanifold/", "neuromanifold-"))]


def test_every_file_in_the_folders_is_of_a_kind_that_a_wheel_carries():
    assert [n for n in tracked() if not n.endswith(CARRIED)] == []


def test_every_folder_has_py_typed():
    for folder in FOLDERS:
        assert (ROOT / folder / "py.typed").exists()
