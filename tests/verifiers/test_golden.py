"""Certificates of every mechanism, kept as files: valid for the checker alone, and their mutants are not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.json"))


def judge(*paths: Path) -> list[str]:
    command = [sys.executable, "-I", "-S", str(ROOT / "verifiers" / "replay.py"), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300).stdout.splitlines()


def test_all_are_valid_and_proofs() -> None:
    assert len(GOLDEN) >= 20
    lines = judge(*GOLDEN)
    assert len(lines) == len(GOLDEN)
    assert all(": valid: " in line and " has dimension " in line for line in lines), lines


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_mutants_are_not(path: Path, tmp_path: Path) -> None:
    certificate = json.loads(path.read_text())
    mutants = []
    one_less = json.loads(path.read_text())
    one_less["claim"] = {k: v - 1 for k, v in one_less["claim"].items()}
    mutants.append(one_less)
    if certificate["upper"].get("fields"):
        dropped = json.loads(path.read_text())
        dropped["upper"]["fields"] = []
        mutants.append(dropped)
    for key in ("exponents", "radicands"):
        if key in certificate:
            mutants.append({k: v for k, v in certificate.items() if k != key})
    paths = []
    for k, mutant in enumerate(mutants):
        paths.append(tmp_path / f"{k}.json")
        paths[-1].write_text(json.dumps(mutant))
    assert all(": invalid: " in line for line in judge(*paths))
