"""Targets: `CLAIMS.toml`, `CLAIMS.toml::ID` or `FILE.py::NAME`, read once and rebuilt in every worker from the same bytes."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ..answer import Answer
from ..exits import CommandError, unknown_name
from ..gate.claims import Claim, parse_claims
from ..gate.engines import engines
from ..gate.load import Unreadable, load, loads
from ..gate.text import place
from ..gate.verdict import judge
from .case import Case, Conjecture, Outcome
from .grid import Grid

BUILT_IN = Path(__file__).parents[1] / "conjectures"


@dataclass(frozen=True)
class Target:
    """One conjecture of a file, by name, with the file's contents: all that a worker needs."""

    path: str
    name: str
    contents: bytes

    @property
    def digest(self) -> str:
        """Names the conjecture in journals: changes with the file."""
        return hashlib.sha256(self.name.encode() + b"\0" + self.contents).hexdigest()[:16]


def targets(text: str) -> list[Target]:
    """The targets that a command line names. Raises `CommandError` that says what is wrong with all of it.

    A file that is not there is looked for among the built-in conjectures, with or without its suffix.
    """
    name, _, wanted = text.partition("::")
    path = _find(name)
    if path.suffix == ".py":
        if not wanted:
            raise CommandError(f"{name}: which conjecture? {name}::NAME; {_conjectures_of(path)}")
        try:
            contents = path.read_bytes()
        except OSError as error:
            raise CommandError(f"{name}: cannot be read: {error.strerror}") from None
        target = Target(str(path.resolve()), wanted, contents)
        _python(target)
        return [target]
    try:
        load(path)
        contents = path.read_bytes()
    except Unreadable as error:
        raise CommandError(f"{name}: {error}") from None
    claims, problems = parse_claims(loads(contents))
    if problems:
        raise CommandError(f"{name}: " + "; ".join(map(str, problems)))
    names = [c.name for c in claims]
    if wanted and wanted not in names:
        raise unknown_name("claim", wanted, names)
    return [Target(str(path.resolve()), n, contents) for n in names if wanted in ("", n)]


def _find(name: str) -> Path:
    path = Path(name)
    if path.exists():
        return path
    for candidate in (BUILT_IN / name, BUILT_IN / f"{name}.toml", BUILT_IN / f"{name}.py"):
        if "/" not in name and candidate.is_file():
            return candidate
    if path.suffix in (".toml", ".py"):
        return path
    built_in = sorted(p.name for p in BUILT_IN.iterdir() if p.suffix in (".toml", ".py") and p.name != "__init__.py")
    raise CommandError(f"{name[:100]!r} is neither a file nor built in: CLAIMS.toml, FILE.py::NAME, {', '.join(built_in)}")


@functools.lru_cache(maxsize=64)
def conjecture_of(target: Target) -> Conjecture:
    """The conjecture of a target, built once in each process."""
    if target.path.endswith(".py"):
        return _python(target)
    claims, _ = parse_claims(loads(target.contents))
    claim = next(c for c in claims if c.name == target.name)
    return from_claim(claim)


def from_claim(claim: Claim) -> Conjecture:
    """A claim as a conjecture: the points of `where` are its cases, and each is judged as the gate judges it.

    Raises `CommandError` for a claim without networks or of a kind that no engine answers.
    """
    if claim.network is None:
        raise CommandError(f"{claim.name}: stands without a network, so there is nothing to fuzz; use check")
    have = engines()
    absent = [s.kind for s in claim.statements if s.kind not in have]
    if absent:
        raise CommandError(f"{claim.name}: no engine for {', '.join(absent)} in this version; it has {', '.join(sorted(have))}")
    ask = _ask()

    def judged(case: Case) -> Outcome:
        single = replace(claim, where={n: (v,) for n, v in case.values}, expect="holds")
        result = judge(single, engines(ask))
        finding = result.shown
        if finding is None:
            return Outcome(result.outcome, certified=result.message, seconds=result.seconds)
        answer = finding.answer
        certificate = answer.certificate if answer and finding.outcome == "refuted" else None
        label = answer.label if answer else None
        return Outcome(finding.outcome, finding.claimed, finding.certified, label, certificate, result.seconds)

    statement = ", ".join(map(str, claim.statements))
    return Conjecture(claim.name, statement, Grid(claim), judged, claim.source, claim.require, claim.expect)


def _ask() -> Callable[[str], Answer]:
    from .python import CASE_SECONDS

    def ask(spec: str) -> Answer:
        from ..dimension import dimension

        return dimension(spec, timeout=CASE_SECONDS)

    return ask


def _python(target: Target) -> Conjecture:
    """Import the file and take the conjecture of that name. Raises `CommandError`; this runs the file's code."""
    path = Path(target.path)
    module = _module(target.path, target.contents)
    found = getattr(module, target.name, None)
    if not isinstance(found, Conjecture):
        what = "there is no such name" if found is None else "it is not decorated with @conjecture(...)"
        raise CommandError(f"{place(path)}::{target.name[:100]}: {what}; {_conjectures_of(path)}")
    return found


@functools.lru_cache(maxsize=16)
def _module(path: str, contents: bytes) -> object:
    name = f"_fuzzed_{hashlib.sha256(path.encode() + contents).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CommandError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.append(folder)  # as `python FILE` has it, but behind everything else
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CommandError(f"{place(Path(path))} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _conjectures_of(path: Path) -> str:
    try:
        module = _module(str(path.resolve()), path.read_bytes())
    except OSError as error:
        return f"{error.strerror}"
    names = sorted(n for n, value in vars(module).items() if isinstance(value, Conjecture))
    return f"it has {', '.join(names)}" if names else "it has no conjecture"
