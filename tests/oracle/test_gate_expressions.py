"""The grammar of claim files: Python's meaning, bounded, never Python's eval."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neuromanifold.oracle.gate.expressions import ExpressionError, parse_expression
from neuromanifold.oracle.gate.template import parse_template

NAMES = ("a", "d", "e")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*a*d - a**2 + d*e - 1", 2 * 2 * 3 - 4 + 15 - 1),
        ("-a**2", -4),
        ("2**3**2", 512),
        ("(-7)//2", -4),
        ("-7 % 3", 2),
        ("min(a, d, e) + max(a, d)", 5),
        ("10 - 3 - 2", 5),
        ("0**0", 1),
        ("(-1)**1000001", -1),
        ("1 < a < d", True),
        ("a == 2 and not d == 2 or e // 0 == 1", True),
        ("kind == 'softmax' and a >= 2", True),
        ("kind != 'softmax'", False),
    ],
)
def test_values(text, value):
    assert parse_expression(text, NAMES, ("kind",))({"a": 2, "d": 3, "e": 5, "kind": "softmax"}) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "ends where a number"),
        ("2*", "ends where a number"),
        ("2 3", "unexpected '3'"),
        ("f", "unknown name 'f'"),
        ("dd + 1", "did you mean 'd'"),
        ("a / 2", "did you mean //"),
        ("a ^ 2", "did you mean **"),
        ("a = 2", "did you mean =="),
        ("__import__('os')", "unknown name '__import__'"),
        ("() + 1", "stands where a number"),
        ("().__class__", "not part of an expression"),
        ("a.real", "not part of an expression"),
        ("d[0]", "not part of an expression"),
        ("lambda: 1", "not part of an expression"),
        ("a if d else e", "unexpected 'if'"),
        ("min a", "expected '('"),
        ("min()", "stands where a number"),
        ("(a", "expected ')'"),
        ("(a < d) + 1", "'+' takes a number"),
        ("a and d", "'and' takes a condition"),
        ("not a", "'not' takes a condition"),
        ("kind + 1", "'+' takes a number, and was given a word"),
        ("kind == 1", "compares two numbers, or two words"),
        ("kind < 'x'", "words have no order"),
        ("kind", "is a word"),
        ("(a < d) == (d < e)", "compares two numbers"),
        ("９", "not part of an expression"),
        ("1.5", "not part of an expression"),
        ("1e9", "unexpected 'e9'"),
        ("\x1b[31m", "'\\x1b' is not part"),
        ("9" * 30, "larger than 10^18"),
        ("(" * 100 + "a" + ")" * 100, "nested deeper"),
        ("- " * 200 + "a", "nested deeper"),
        ("not " * 200 + "a < d", "nested deeper"),
        ("**".join(["2"] * 120), "nested deeper"),
        ("+".join(["a"] * 400), "tokens"),
        ("a" * 2000, "characters"),
    ],
)
def test_refusals(text, says):
    with pytest.raises(ExpressionError) as error:
        parse_expression(text, NAMES, ("kind",))
    assert says in str(error.value)
    assert str(error.value).isprintable() and len(str(error.value)) < 300


@pytest.mark.parametrize(
    "text", ["9**9**9", "2**60", "10**18 + 1", "(10**9)**9", "a // (d - 3)", "a % (d - 3)", "2**(-1)"]
)
def test_values_that_do_not_exist_are_refused_at_once(text):
    start = time.process_time()
    with pytest.raises(ExpressionError, match="has no value"):
        parse_expression(text, NAMES)({"a": 2, "d": 3, "e": 5})
    assert time.process_time() - start < 0.1


def test_a_missing_value_is_named():
    with pytest.raises(ExpressionError, match="needs d"):
        parse_expression("a + d", NAMES)({"a": 1})


@st.composite
def arithmetic(draw, depth=0):
    if depth > 3 or draw(st.booleans()):
        return draw(st.one_of(st.sampled_from(NAMES), st.integers(0, 9).map(str)))
    left, right = draw(arithmetic(depth + 1)), draw(arithmetic(depth + 1))
    operator = draw(st.sampled_from(["+", "-", "*", "//", "%", " < ", " == ", " and ", " or ", "min", "neg"]))
    if operator == "min":
        return f"min({left}, {right})"
    return (
        f"-{left}" if operator == "neg" else draw(st.sampled_from(["{}{}{}", "({}{}{})"])).format(left, operator, right)
    )


@settings(deadline=None, max_examples=400, derandomize=True)
@given(arithmetic(), st.fixed_dictionaries({n: st.integers(-5, 5) for n in NAMES}))
def test_agrees_with_python_wherever_it_has_a_value(text, values):
    try:
        mine = parse_expression(text, NAMES)(values)
    except ExpressionError as error:
        if "division by zero" in str(error):
            with pytest.raises(ZeroDivisionError):
                eval(text, {}, values)
        return
    assert mine == eval(text, {"min": min}, values)


def test_templates():
    template = parse_template("softmax d={d},{2*d} a={a} t=3 {mask}", NAMES, ("mask",))
    assert template.fill({"d": 3, "a": 1, "mask": "causal"}) == "softmax d=3,6 a=1 t=3 causal"
    assert template.names == {"d", "a", "mask"}


@pytest.mark.parametrize("text", ["d={d", "d=d}", "{}", "{d < 3}", "{x}", "{d!r}", "{d:>10}", "{{d}}", "{mask + 1}"])
def test_templates_refused(text):
    with pytest.raises(ExpressionError):
        parse_template(text, NAMES, ("mask",))
