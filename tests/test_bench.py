"""`ci/bench`: a column for what is installed, one line on stderr for what is missing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "ci" / "benchmarks"
LINE = re.compile(r"ci/bench: no column for (\S+): .+")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Where no program is on PATH, and of the Python modules FLINT's alone can be imported."""
    folder = tmp_path_factory.mktemp("nothing")
    for module in ("jax", "torch"):
        (folder / f"{module}.py").write_text("raise ImportError('hidden')\n")
    hidden = {**os.environ, "PATH": str(folder), "PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(BENCH), "rank", "query", "--quick", "--json"]
    return subprocess.run(command, env=hidden, capture_output=True, text=True, timeout=300, check=True)


def test_each_missing_tool_has_one_line(bench):
    names = [LINE.fullmatch(line)[1] for line in bench.stderr.splitlines()]
    assert sorted(names) == ["Macaulay2", "fflas-ffpack", "jax", "torch"]


def test_columns_of_what_is_there_and_no_others(bench):
    tables = json.loads(bench.stdout)["tables"]
    names = " ".join(row["name"] for table in tables for row in table["rows"])
    assert "FLINT" in names
    assert not re.search("jax|PyTorch|Macaulay2|fflas-ffpack", names)


def test_ranks_of_one_table_agree(bench):
    for table in json.loads(bench.stdout)["tables"]:
        found = {row["name"]: row["found"] for row in table["rows"] if row["found"] is not None}
        assert len(set(found.values())) == 1, found
