"""Network lines with holes: `lightning d={d},{e} a={a} t=2`; each hole is an expression over the names of `where`."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from .expressions import Environment, Expression, ExpressionError, parse_expression

MAX_TEXT = 4_096


@dataclass(frozen=True)
class Template:
    """A line and its holes; `pieces` alternates text, hole, text, ..., text (a hole is an expression or the name of a word)."""

    text: str
    pieces: tuple[str | Expression, ...]
    names: frozenset[str]

    def fill(self, values: Environment) -> str:
        """The line at the given values. Raises `ExpressionError` where a hole has no value."""
        filled = []
        for number, piece in enumerate(self.pieces):
            if isinstance(piece, Expression):
                filled.append(str(piece(values)))
            else:
                filled.append(str(values[piece]) if number % 2 else piece)
        return "".join(filled)


def parse_template(text: str, names: Collection[str], words: Collection[str]) -> Template:
    """The template of a text. Raises `ExpressionError` that says which hole is wrong."""
    if len(text) > MAX_TEXT:
        raise ExpressionError(f"the line has {len(text)} characters, more than {MAX_TEXT}")
    parts = re.split(r"\{([^{}]*)\}", text)
    pieces: list[str | Expression] = []
    used: set[str] = set()
    for number, part in enumerate(parts):
        if number % 2 == 0:
            if "{" in part or "}" in part:
                raise ExpressionError(f"{text!a} has a brace without its partner; a hole looks like {{d}} or {{2*a}}")
            pieces.append(part)
        elif part.strip() in words:
            pieces.append(part.strip())
            used.add(part.strip())
        else:
            try:
                hole = parse_expression(part, names, words)
            except ExpressionError as error:
                raise ExpressionError(f"in the hole {{{part}}}: {error}") from None
            if hole.type != "int":
                raise ExpressionError(f"the hole {{{part}}} is a condition, not a number")
            pieces.append(hole)
            used |= hole.names
    return Template(text, tuple(pieces), frozenset(used))
