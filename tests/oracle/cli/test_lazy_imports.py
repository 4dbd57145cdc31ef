"""Importing, parsing, `--help`, usage errors and formulas load none of the large libraries."""

import json
import os
import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "pydantic", "jax", "sympy", "z3", "hypothesis", "pytest", "dask", "torch")
FORMULA = ["dimension", "lightning d=512,512,512 a=64 t=16", "--timeout", "0", "--require", "formula"]
COMMANDS = [
    (["--help"], 0),
    (["dimension", "--help"], 0),
    (["--version"], 0),
    (["dimension", "nonsense"], 2),
    (["verify", "no-such-file"], 2),
    (["theorems"], 0),
    (["prove", "--list"], 0),
    (["fiber", "--help"], 0),
    (["singular", "lightning d=2,2 a=1 t=2", "no-such-file.txt"], 2),
    (FORMULA, 0),
]


def heavy_modules(code):
    """Run code in a fresh interpreter and say which heavy modules it has loaded at its end."""
    watch = f"; import json, sys; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]), file=sys.stderr)"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("COV_", "PYTEST"))}
    command = [sys.executable, "-c", code + watch]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.splitlines()[-1])


@pytest.mark.parametrize(("arguments", "code"), COMMANDS)
def test_a_command_that_needs_no_mathematics_loads_none(arguments, code):
    program = f"from neuromanifold.oracle.__main__ import main; assert main({arguments!r}) == {code}"
    assert heavy_modules(program) == []


def test_importing_and_parsing_load_none():
    assert heavy_modules("from neuromanifold import oracle; dir(oracle); oracle.parse('lightning d=3,3 a=2 t=3')") == []


def test_a_name_stays_the_function_when_its_module_is_imported():
    program = (
        "import neuromanifold.oracle.dimension; from neuromanifold import oracle;"
        " assert all(callable(getattr(oracle, n)) for _ in range(2) for n in oracle.__all__ if n != 'verify');"
        " assert oracle.dimension('lightning d=2,2 a=1 t=2').dimension == oracle.dimension('lightning d=2,2 a=1 t=2').dimension"
    )
    assert "numpy" in heavy_modules(program)


@pytest.mark.parametrize("module", ["numpy", "sympy", "hypothesis"])
def test_the_watch_sees_a_heavy_import(module):
    found = heavy_modules(f"from neuromanifold.oracle.__main__ import main; import {module}; main(['--help'])")
    assert module in found
