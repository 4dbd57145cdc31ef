"""Formulas as users read them, `(K x + bk)' (Q z + bq)`, and their syntax trees.

Letters are names; juxtaposition multiplies, `'` transposes, `+` and `-` add, integers are coefficients, `0` is zero.
A tree is a nested tuple: ("letter", name), ("number", n), ("times", a, b), ("plus", a, b), ("minus", a),
("transpose", a).
The tree is what a claim states. The routes read it in different ways and share nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Tree = tuple[Any, ...]

ZERO: Tree = ("number", 0)
_TOKEN = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*|[0-9]+|[()'+-])")


def parse(text: str) -> Tree:
    """Return the syntax tree of `text`; `ValueError` names the position of a mistake."""
    tokens: list[str] = []
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"unexpected character at position {position} of {text!r}")
        tokens.append(match[1])
        position = match.end()
    tree, rest = _sum(tokens, 0)
    if rest != len(tokens):
        raise ValueError(f"unexpected {tokens[rest]!r} in {text!r}")
    return tree


def _sum(tokens: list[str], at: int) -> tuple[Tree, int]:
    negative = at < len(tokens) and tokens[at] == "-"
    tree, at = _product(tokens, at + negative)
    if negative:
        tree = ("minus", tree)
    while at < len(tokens) and tokens[at] in "+-":
        sign = tokens[at]
        term, at = _product(tokens, at + 1)
        tree = ("plus", tree, ("minus", term) if sign == "-" else term)
    return tree, at


def _product(tokens: list[str], at: int) -> tuple[Tree, int]:
    tree, at = _factor(tokens, at)
    while at < len(tokens) and tokens[at] not in "+-)":
        factor, at = _factor(tokens, at)
        tree = ("times", tree, factor)
    return tree, at


def _factor(tokens: list[str], at: int) -> tuple[Tree, int]:
    if at >= len(tokens):
        raise ValueError("the formula ends too early")
    token = tokens[at]
    tree: Tree
    if token == "(":
        tree, at = _sum(tokens, at + 1)
        if at >= len(tokens) or tokens[at] != ")":
            raise ValueError("a bracket is not closed")
    elif token.isdigit():
        tree = ("number", int(token))
    elif token[0].isalpha():
        tree = ("letter", token)
    else:
        raise ValueError(f"unexpected {token!r}")
    at += 1
    while at < len(tokens) and tokens[at] == "'":
        tree, at = ("transpose", tree), at + 1
    return tree, at


def letters(tree: Tree) -> set[str]:
    """Return the names of the letters in `tree`."""
    if tree[0] == "letter":
        return {tree[1]}
    return {name for part in tree[1:] if isinstance(part, tuple) for name in letters(part)}


def substitute(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """Replace letters by trees, all at once."""
    if tree[0] == "letter":
        return values.get(tree[1], tree)
    return (tree[0], *(substitute(part, values) if isinstance(part, tuple) else part for part in tree[1:]))


def derive(tree: Tree, motion: Mapping[str, Tree]) -> Tree:
    """Return the derivative of `tree` when each letter in `motion` moves as given and the others rest (Leibniz, not
    expanded).
    """
    kind = tree[0]
    if kind == "letter":
        return motion.get(tree[1], ZERO)
    if kind == "number":
        return ZERO
    if kind in ("minus", "transpose"):
        part = derive(tree[1], motion)
        return ZERO if part == ZERO else (kind, part)
    left, right = derive(tree[1], motion), derive(tree[2], motion)
    if kind == "times":
        left = ZERO if left == ZERO else ("times", left, tree[2])
        right = ZERO if right == ZERO else ("times", tree[1], right)
    if ZERO in (left, right):
        return right if left == ZERO else left
    return ("plus", left, right)
