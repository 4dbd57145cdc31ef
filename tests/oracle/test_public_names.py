"""`from neuromanifold import oracle` gives what it promises, in whatever order its files are imported."""

import importlib
import subprocess
import sys
import types

import pytest
from neuromanifold import oracle


@pytest.mark.parametrize("name", oracle.__all__)
def test_a_public_name_is_never_a_module(name):
    first = getattr(oracle, name)
    home = importlib.import_module(oracle._HOME[name], "neuromanifold.oracle")
    assert not isinstance(first, types.ModuleType)
    assert getattr(oracle, name) is first is getattr(home, name)


@pytest.mark.parametrize(
    "first", ["import neuromanifold.oracle.dimension", "import neuromanifold.oracle.__main__", "pass"]
)
def test_dimension_is_callable_after_any_import(first):
    code = (
        f"{first}; from neuromanifold import oracle; f = oracle.dimension; assert callable(f) and oracle.dimension is f"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="it has Answer"):
        oracle.dimensions  # noqa: B018
