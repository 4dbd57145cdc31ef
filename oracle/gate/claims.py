"""Claim files: text in, `Claim`s out, or every problem at once with its claim, its key and the line of its header.

    [[claim]]
    id = "single-layer"
    network = "lightning d={d},{e} a={a} t=2"
    where = { d = "1..4", e = "1..3", a = "1..4" }
    when = "a <= d"
    dimension = "2*a*d - a**2 + d*e - 1"

`check` enumerates `where`, `fuzz` samples it. Keys and their types are the table in `fields`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .expressions import Expression, ExpressionError, Value, parse_expression
from .fields import FIELDS, MAX_CLAIMS, STATEMENTS, problem, show
from .load import Loaded, Unreadable, load
from .template import Template, parse_template


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a claim file: where it is (claim id or ordinal, key, line of the header) and what."""

    claim: str
    key: str
    line: int | None
    message: str

    def __str__(self) -> str:
        where = [w for w in (f"line {self.line}" if self.line else "", self.claim, self.key) if w]
        return f"{': '.join(where)}: {self.message}" if where else self.message


@dataclass(frozen=True)
class Statement:
    """What a claim says: its kind (a key of `fields.STATEMENTS`) and the right side."""

    kind: str
    value: Expression | Template | str

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, str) else self.value.text
        return f"{self.kind} = {value}"


@dataclass(frozen=True)
class Claim:
    """One claim, checked as far as it can be without building its networks.

    `where` has a range or a tuple of integers or words for every name; nothing is enumerated yet. `name` is the id, or
    `claim N` where there is none.
    """

    name: str
    line: int | None
    statements: tuple[Statement, ...]
    network: Template | None = None
    where: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    when: Expression | None = None
    require: str = "proven"
    expect: str = "holds"
    source: str = ""

    @property
    def grid(self) -> int:
        """The number of points of `where`, before `when`."""
        size = 1
        for values in self.where.values():
            size *= len(values)
        return size


@dataclass(frozen=True)
class ClaimFile:
    """The claims of a file, and its problems: claims are there only if there are no problems."""

    path: Path
    claims: tuple[Claim, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_claims(path: str | Path) -> ClaimFile:
    """The claims of a file, or all its problems. Never raises on a bad file, and never evaluates its text as code."""
    path = Path(path)
    try:
        loaded = load(path)
    except Unreadable as error:
        return ClaimFile(path, problems=(Problem("", "", error.line, str(error)),))
    claims, problems = parse_claims(loaded)
    return ClaimFile(path, () if problems else tuple(claims), tuple(problems))


def parse_claims(loaded: Loaded) -> tuple[list[Claim], list[Problem]]:
    """The claims of TOML data, with everything that is wrong with them."""
    problems = [
        Problem("", show(key).strip("'"), None, f"unknown key{_nearest(key, ('claim', 'schema'))}")
        for key in loaded.data if key not in ("claim", "schema")
    ]  # fmt: skip
    if loaded.data.get("schema", 1) != 1 or isinstance(loaded.data.get("schema"), bool):
        problems.append(
            Problem("", "schema", None, f"{show(loaded.data['schema'])} is not known: this version reads schema = 1")
        )
    rows = loaded.data.get("claim", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return [], [*problems, Problem("", "claim", None, "claims are tables, each under a header [[claim]]")]
    if len(rows) > MAX_CLAIMS:
        return [], [
            *problems,
            Problem("", "claim", None, f"{len(rows)} claims are more than {MAX_CLAIMS}: split the file"),
        ]
    lines = loaded.headers if len(loaded.headers) == len(rows) else [None] * len(rows)
    claims: list[Claim] = []
    seen: dict[str, int | None] = {}
    for ordinal, (row, line) in enumerate(zip(rows, lines, strict=True), 1):
        reader = _Reader(row, ordinal, line)
        claim = reader.read()
        if reader.valid_id and reader.name in seen:
            first = f", at line {seen[reader.name]}" if seen[reader.name] else ""
            reader.note("id", f"was given already{first}")
        seen.setdefault(reader.name, line)
        problems += reader.problems
        if claim and not reader.problems:
            claims.append(claim)
    return claims, problems


class _Reader:
    """Reads one table and collects its problems."""

    def __init__(self, row: dict[str, Any], ordinal: int, line: int | None):
        self.row, self.line = row, line
        self.problems: list[Problem] = []
        identifier = row.get("id")
        self.valid_id = "id" in row and problem("id", identifier, FIELDS["id"].schema) is None
        self.name = str(identifier) if self.valid_id else f"claim {ordinal}"
        self.names: list[str] = []
        self.words: list[str] = []

    def note(self, key: str, message: str) -> None:
        self.problems.append(Problem(self.name, key, self.line, message))

    def read(self) -> Claim | None:
        for key, value in self.row.items():
            if key not in FIELDS:
                self.note(show(key).strip("'"), f"unknown key{_nearest(key, tuple(FIELDS))}")
            elif key != "where" and (wrong := problem(key, value, FIELDS[key].schema)):
                self.note(key, wrong)
        where = self.domains()
        if self.problems:
            return None
        stated = [key for key in STATEMENTS if key in self.row]
        if not stated:
            self.note("", f"states nothing: give one of {', '.join(STATEMENTS)}")
        if "proved" in self.row:
            for key in self.row:
                if key not in ("id", "proved", "expect", "source"):
                    self.note(key, "does not go with proved, which stands without a network")
        elif "network" not in self.row:
            self.note("network", 'is missing, as in network = "lightning d=3,3 a=2 t=2"')
        network = self.template("network")
        when = self.expression("when", "bool")
        statements = [s for s in map(self.statement, stated) if s]
        parsed = [network, when, *(s.value for s in statements)]
        used = {n for p in parsed if p is not None and not isinstance(p, str) for n in p.names}
        if not self.problems:
            for name in where:
                if name not in used:
                    self.note(f"where.{name}", "is not used by network, when or the statement")
        if self.problems:
            return None
        return Claim(
            self.name, self.line, tuple(statements), network, where, when,
            require=self.row.get("require", "proven"), expect=self.row.get("expect", "holds"), source=self.row.get("source", ""),
        )  # fmt: skip

    def domains(self) -> dict[str, Sequence[Value]]:
        """The values of each name of `where`; a range stays a range."""
        given = self.row.get("where", {})
        rule = FIELDS["where"].schema
        if not isinstance(given, dict):
            self.note("where", f"{show(given)} does not fit: {FIELDS['where'].meaning}")
            return {}
        if len(given) > rule["maxProperties"]:
            self.note("where", f"{len(given)} names are more than {rule['maxProperties']}")
            return {}
        found: dict[str, Sequence[Value]] = {}
        for name, value in given.items():
            key = f"where.{show(name).strip(chr(39))}"
            if (
                problem(key, name, {"type": "string", **rule["propertyNames"]})
                or name in rule["propertyNames"]["not"]["enum"]
            ):
                self.note(
                    key, "is not a name: lower-case letters, digits and _, at most 16, none of and or not min max"
                )
            elif wrong := problem(key, value, rule["additionalProperties"]):
                self.note(key, wrong)
            else:
                found[name] = _values(value)
                if not found[name]:
                    self.note(key, f"{show(value)} is empty")
                (self.words if isinstance(found[name][:1][0] if found[name] else 0, str) else self.names).append(name)
        return found

    def expression(self, key: str, wanted: str) -> Expression | None:
        if key not in self.row:
            return None
        try:
            parsed = parse_expression(str(self.row[key]), self.names, self.words)
        except ExpressionError as error:
            self.note(key, str(error))
            return None
        if parsed.type != wanted:
            self.note(
                key,
                "is a number, not a condition such as a <= d" if wanted == "bool" else "is a condition, not a number",
            )
            return None
        return parsed

    def template(self, key: str) -> Template | None:
        if key not in self.row:
            return None
        try:
            return parse_template(self.row[key], self.names, self.words)
        except ExpressionError as error:
            self.note(key, str(error))
            return None

    def statement(self, key: str) -> Statement | None:
        value: Expression | Template | str | None
        if key in ("proved", "model"):
            value = self.row[key]
        elif key == "same_dimension_as":
            value = self.template(key)
        else:
            value = self.expression(key, "int")
        return None if value is None else Statement(key, value)


def _values(value: Any) -> Sequence[Value]:
    if isinstance(value, int):
        return (value,)
    if isinstance(value, list):
        return tuple(value)
    low, _, high = value.partition("..")
    return range(int(low), int(high) + 1)


def _nearest(word: str, valid: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word[:32], valid, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(valid)}"
