"""Claims as pytest items: one item a claim, named by its id, failing with the report of the gate."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from .claims import Claim, read_claims
from .engines import engines
from .text import details, headline, plain
from .verdict import Engine, Result, judge

_TABLE = pytest.StashKey[Mapping[str, Engine]]()


class ClaimFailedError(Exception):
    """A claim did not pass; the message is the report."""

    def __init__(self, result: Result):
        super().__init__("\n".join([headline(result), *details(result)]))


class ClaimFileCollector(pytest.File):
    """A `*.claims.toml` file. A file that cannot be read, or has no claims, is a collection error: nothing is skipped."""

    def collect(self) -> Iterator[ClaimItem]:
        """Every claim of the file."""
        file = read_claims(self.path)
        if file.problems:
            raise self.CollectError("\n".join(plain(str(p)) for p in file.problems))
        if not file.claims:
            raise self.CollectError("no [[claim]]: nothing would be checked")
        for claim in file.claims:
            yield ClaimItem.from_parent(self, name=claim.name, claim=claim)


class ClaimItem(pytest.Item):
    """One claim. Items of a session share the answers of the oracle."""

    def __init__(self, *, claim: Claim, **kwargs: Any):
        super().__init__(**kwargs)
        self.claim = claim

    def runtest(self) -> None:
        """Judge the claim."""
        stash = self.session.stash
        if _TABLE not in stash:
            stash[_TABLE] = engines()
        result = judge(self.claim, stash[_TABLE])
        self.user_properties.append(("claim_outcome", result.outcome))
        if not result.passed:
            raise ClaimFailedError(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report of the gate in place of a traceback."""
        if isinstance(excinfo.value, ClaimFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str], int | None, str]:
        """The header of the claim in its file."""
        return self.path, self.claim.line and self.claim.line - 1, f"claim {self.name}"
