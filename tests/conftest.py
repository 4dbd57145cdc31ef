"""What holds for all tests: the user's own store of certificates is never touched."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def _store_of_its_own(tmp_path_factory):
    os.environ["NEUROMANIFOLD_CACHE"] = str(tmp_path_factory.mktemp("cache"))
