"""How these tests run the command line: in this process or in one of its own, with the real oracle or the stub."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

STUB = Path(__file__).with_name("stub.py")


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def load_stub():
    found = importlib.util.spec_from_file_location("stub_oracle", STUB)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def real(capsys):
    """Run `main` in this process with the real oracle."""
    from neuromanifold.oracle.__main__ import main

    def run(*arguments):
        capsys.readouterr()
        code = main(arguments)
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def stub(monkeypatch, real):
    """Run `main` in this process with the stub."""
    monkeypatch.setitem(sys.modules, "neuromanifold.oracle.dimension", load_stub().install())
    return real


@pytest.fixture
def process():
    """Run the command line in a process of its own."""

    def run(*arguments, **options):
        command = [sys.executable, "-m", "neuromanifold.oracle", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def stub_process():
    """Start the stub in a process of its own, which the test ends."""
    started = []

    def start(*arguments, **options):
        command = [sys.executable, str(STUB), *map(str, arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
