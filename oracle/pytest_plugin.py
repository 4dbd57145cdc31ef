"""The pytest plugin: `*.claims.toml` files are test files, and `dimension_oracle` is a fixture. Kept tiny: every pytest run loads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .answer import Answer


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the claims of `*.claims.toml`, each as one test item."""
    if not file_path.name.endswith(".claims.toml"):
        return None
    from .gate.pytest_items import ClaimFileCollector

    collector: pytest.Collector = ClaimFileCollector.from_parent(parent, path=file_path)
    return collector


@pytest.fixture(scope="session")
def dimension_oracle() -> Callable[[str], Answer]:
    """`oracle.dimension`, remembering its answers for the session."""
    import functools

    from .dimension import dimension

    return functools.cache(dimension)
