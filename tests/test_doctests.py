"""The examples in docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

PACKAGES = ("neuromanifold.oracle", "neuromanifold.verifiers", "neuromanifold.numerics")


def modules():
    for package in map(importlib.import_module, PACKAGES):
        yield package.__name__
        yield from (m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))


@pytest.mark.parametrize("name", list(modules()))
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_some_are_found():
    assert sum(doctest.testmod(importlib.import_module(name)).attempted for name in modules()) >= 2
