"""Expressions of claim files: a small grammar over integers, read by hand and never by Python's eval.

    2*a*d - a**2 + d*e - 1        a <= d and not (e == 1 or min(a, d) == 2)        kind == 'softmax'

Precedence and meaning are Python's. `//` and `%` round towards minus infinity; `and`/`or` stop early, so `b > 0 and a // b` is
safe; comparisons chain. Names are integers, except those declared as words: a word is only compared, with == or !=.
Everything is bounded: text, number of tokens, nesting, and the magnitude of every intermediate value.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

MAX_TEXT = 1_000
MAX_TOKENS = 300
MAX_DEPTH = 40
MAX_MAGNITUDE = 10**18  # of any value on the way: room for the parameters of any network the notation can write
FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max}
WORDS = ("and", "or", "not")
COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
_TOKEN = re.compile(r" *(?:([0-9]+)|([A-Za-z_][A-Za-z0-9_]*)|('[^']*')|(\*\*|//|[=!<>]=|[-+*%<>(),])|(.))")

Value = int | str
Environment = Mapping[str, Value]


class ExpressionError(ValueError):
    """The text is not an expression, or it has no value here; the message names the column where there is one."""


@dataclass(frozen=True)
class Expression:
    """A parsed expression: its text, its type (`int` or `bool`), the names that it reads."""

    text: str
    type: str
    names: frozenset[str]
    _run: Callable[[Environment], Value]

    def __call__(self, values: Environment) -> int:
        """The value at `values` (a bool is an int). Raises `ExpressionError`: division by zero, a magnitude over 10^18, a missing name."""
        missing = self.names - set(values)
        if missing:
            raise ExpressionError(f"{self.text!r} needs {', '.join(sorted(missing))}")
        try:
            return int(self._run(values))
        except ExpressionError as error:
            at = ", ".join(f"{k}={v}" for k, v in values.items() if k in self.names)
            raise ExpressionError(f"{self.text!r} has no value{' at ' + at if at else ''}: {error}") from None


def parse_expression(text: str, names: Collection[str], words: Collection[str] = ()) -> Expression:
    """The expression of a text that may read `names` (integers) and `words` (texts). Raises `ExpressionError`.

    Guarantees that evaluating it takes bounded time and memory and touches nothing but the values given.
    """
    parser = _Parser(text, names, words)
    node = parser.disjunction(0)
    parser.expect_end()
    if node.type == "word":
        raise ExpressionError(f"column 1: {text!r} is a word, not a number or a condition")
    return Expression(text, node.type, frozenset(parser.used), node.run)


@dataclass(frozen=True)
class _Node:
    type: str  # int, bool or word
    run: Callable[[Environment], Value]


class _Parser:
    """Recursive descent, one method a level of precedence; `depth` bounds the recursion."""

    def __init__(self, text: str, names: Collection[str], words: Collection[str]):
        if len(text) > MAX_TEXT:
            raise ExpressionError(f"the expression has {len(text)} characters, more than {MAX_TEXT}")
        self.names, self.words, self.used = names, words, set[str]()
        self.tokens: list[tuple[str, int]] = []
        for match in _TOKEN.finditer(text.rstrip(" ")):
            token, column = match[0].lstrip(" "), match.end() - len(match[0].lstrip(" ")) + 1
            if match[5]:
                near = {"/": "//", "^": "**", "=": "==", "&": "and", "|": "or", "!": "not", '"': "'...'"}.get(token)
                hint = f"; did you mean {near}?" if near else "; valid: + - * // % ** min max, comparisons, and or not"
                raise ExpressionError(f"column {column}: {token!a} is not part of an expression{hint}")
            self.tokens.append((token, column))
        if len(self.tokens) > MAX_TOKENS:
            raise ExpressionError(f"the expression has {len(self.tokens)} tokens, more than {MAX_TOKENS}")
        self.end = len(text) + 1
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def column(self) -> int:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else self.end

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def fail(self, message: str) -> ExpressionError:
        return ExpressionError(f"column {self.column()}: {message}")

    def bound(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH}")

    def expect(self, token: str) -> None:
        if self.peek() != token:
            raise self.fail(
                f"expected {token!r}, found {self.peek()!r}" if self.peek() else f"expected {token!r} before the end"
            )
        self.at += 1

    def expect_end(self) -> None:
        if self.at < len(self.tokens):
            raise self.fail(f"unexpected {self.peek()!r} after a complete expression")

    def typed(self, node: _Node, wanted: str, operator: str) -> Callable[[Environment], int]:
        if node.type != wanted:
            kinds = {"int": "a number", "bool": "a condition", "word": "a word"}
            raise self.fail(f"{operator!r} takes {kinds[wanted]}, and was given {kinds[node.type]}")
        return node.run  # type: ignore[return-value]  # the type was just checked

    def disjunction(self, depth: int) -> _Node:
        return self.connective(depth, "or", self.conjunction)

    def conjunction(self, depth: int) -> _Node:
        return self.connective(depth, "and", self.negation)

    def connective(self, depth: int, word: str, operand: Callable[[int], _Node]) -> _Node:
        node = operand(depth)
        while self.peek() == word:
            self.take()
            left, right = self.typed(node, "bool", word), self.typed(operand(depth), "bool", word)
            node = _Node("bool", _either(left, right) if word == "or" else _both(left, right))
        return node

    def negation(self, depth: int) -> _Node:
        self.bound(depth)
        if self.peek() != "not":
            return self.comparison(depth)
        self.take()
        run = self.typed(self.negation(depth + 1), "bool", "not")
        return _Node("bool", lambda v: not run(v))

    def comparison(self, depth: int) -> _Node:
        first = self.sum(depth)
        links: list[tuple[str, Callable[[Environment], Value]]] = []
        types = {first.type}
        while self.peek() in COMPARISONS:
            operator = self.take()
            operand = self.sum(depth)
            types.add(operand.type)
            if "bool" in types or len(types) > 1:
                raise self.fail(f"{operator!r} compares two numbers, or two words")
            if "word" in types and operator not in ("==", "!="):
                raise self.fail(f"words have no order: {operator!r} takes numbers")
            links.append((operator, operand.run))
        return _Node("bool", _chain(first.run, links)) if links else first

    def sum(self, depth: int) -> _Node:
        return self.arithmetic(depth, ("+", "-"), self.product)

    def product(self, depth: int) -> _Node:
        return self.arithmetic(depth, ("*", "//", "%"), self.sign)

    def arithmetic(self, depth: int, operators: tuple[str, ...], operand: Callable[[int], _Node]) -> _Node:
        node = operand(depth)
        while self.peek() in operators:
            operator = self.take()
            left, right = self.typed(node, "int", operator), self.typed(operand(depth), "int", operator)
            node = _Node("int", _binary(operator, left, right))
        return node

    def sign(self, depth: int) -> _Node:
        self.bound(depth)
        if self.peek() != "-":
            return self.power(depth)
        self.take()
        run = self.typed(self.sign(depth + 1), "int", "-")
        return _Node("int", lambda v: -run(v))

    def power(self, depth: int) -> _Node:
        node = self.atom(depth)
        if self.peek() != "**":
            return node
        self.take()
        base, exponent = self.typed(node, "int", "**"), self.typed(self.sign(depth + 1), "int", "**")
        return _Node("int", _binary("**", base, exponent))

    def atom(self, depth: int) -> _Node:
        if not self.peek():
            raise self.fail("the expression ends where a number or a name is needed")
        token = self.peek()
        if token.isdigit():
            if len(token) > 19 or int(token) > MAX_MAGNITUDE:
                raise self.fail(f"{token[:24]} is larger than 10^18")
            self.take()
            value = int(token)
            return _Node("int", lambda v: value)
        if token.startswith("'"):
            self.take()
            return _Node("word", lambda v: token[1:-1])
        if token == "(":
            self.take()
            node = self.disjunction(depth + 1)
            self.expect(")")
            return node
        if token in FUNCTIONS:
            return self.call(depth)
        if token in self.names or token in self.words:
            self.take()
            self.used.add(token)
            return _Node("int" if token in self.names else "word", lambda v: v[token])
        if not (token[0].isalpha() or token[0] == "_") or token in WORDS:
            raise self.fail(f"{token!r} stands where a number or a name is needed")
        known = [*self.names, *self.words, *FUNCTIONS]
        close = difflib.get_close_matches(token[:32], known, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(sorted(known))}"
        raise self.fail(f"unknown name {token[:32]!r}; {hint}")

    def call(self, depth: int) -> _Node:
        name = self.take()
        self.expect("(")
        arguments = [self.typed(self.disjunction(depth + 1), "int", name)]
        while self.peek() == ",":
            self.take()
            arguments.append(self.typed(self.disjunction(depth + 1), "int", name))
        self.expect(")")
        function = FUNCTIONS[name]
        return _Node("int", lambda v: function([run(v) for run in arguments]))


def _either(left: Callable[[Environment], int], right: Callable[[Environment], int]) -> Callable[[Environment], Value]:
    return lambda v: left(v) or right(v)


def _both(left: Callable[[Environment], int], right: Callable[[Environment], int]) -> Callable[[Environment], Value]:
    return lambda v: left(v) and right(v)


def _chain(
    first: Callable[[Environment], Value], links: list[tuple[str, Callable[[Environment], Value]]]
) -> Callable[[Environment], Value]:
    def run(values: Environment) -> Value:
        left = first(values)
        for operator, operand in links:
            right = operand(values)
            if not _compare(operator, left, right):
                return False
            left = right
        return True

    return run


def _compare(operator: str, left: Value, right: Value) -> bool:
    if operator in ("==", "!="):
        return (left == right) == (operator == "==")
    less, equal = left < right, left == right  # type: ignore[operator]  # the parser compares numbers with numbers
    return {"<": less, "<=": less or equal, ">": not (less or equal), ">=": not less}[operator]


def _binary(
    operator: str, left: Callable[[Environment], int], right: Callable[[Environment], int]
) -> Callable[[Environment], Value]:
    def run(values: Environment) -> int:
        x, y = left(values), right(values)
        if operator == "+":
            result = x + y
        elif operator == "-":
            result = x - y
        elif operator == "*":
            result = x * y
        elif operator == "**":
            result = _power(x, y)
        elif y == 0:
            raise ExpressionError("division by zero")
        else:
            result = x // y if operator == "//" else x % y
        if abs(result) > MAX_MAGNITUDE:
            raise ExpressionError("a value exceeds 10^18")
        return result

    return run


def _power(base: int, exponent: int) -> int:
    """base ** exponent; refused before the work when the result must exceed 10^18 (|base| >= 2 and exponent >= 60)."""
    if exponent < 0:
        raise ExpressionError("a negative exponent")
    if abs(base) >= 2 and exponent >= 60:
        raise ExpressionError("a value exceeds 10^18")
    return base**exponent if abs(base) >= 2 else (base ** (2 - exponent % 2) if exponent else 1)
