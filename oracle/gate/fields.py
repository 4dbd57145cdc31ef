"""The keys of a claim, as a table: what the parser accepts and what the published JSON Schema says are the same rows.

`python -m neuromanifold.oracle.gate.fields` prints the schema; `claims.schema.json` beside this file is its output.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .expressions import MAX_MAGNITUDE
from .expressions import MAX_TEXT as MAX_EXPRESSION
from .template import MAX_TEXT as MAX_LINE

MAX_CLAIMS = 10_000
MAX_LISTED = 1_000  # values of one list of `where`
MAX_NAMES = 12
LABELS = ("proven", "formula", "numerical")
ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
NAME = r"[a-z][a-z0-9_]{0,15}"
RANGE = r"-?[0-9]{1,18}\.\.-?[0-9]{1,18}"
WORD = r"[ -~]{0,200}"
MODEL = r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*"

_INTEGER = {"type": "integer", "minimum": -MAX_MAGNITUDE, "maximum": MAX_MAGNITUDE}
_VALUE: dict[str, Any] = {"oneOf": [_INTEGER, {"type": "string", "minLength": 1, "maxLength": MAX_EXPRESSION}]}
_LINE = {"type": "string", "minLength": 1, "maxLength": MAX_LINE}


def _whole(pattern: str) -> str:
    """The pattern of the whole text, in the JavaScript of JSON Schema and in Python, whose $ also matches before a last newline."""
    return rf"^(?:{pattern})$(?!\n)"


def _text(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": _whole(pattern)}


@dataclass(frozen=True)
class Field:
    """A key: its JSON Schema, what it says in words, and whether it states something about the network."""

    schema: dict[str, Any]
    meaning: str
    statement: bool = False


FIELDS: dict[str, Field] = {
    "id": Field(_text(ID), "name of the claim: letters, digits, '.', '_', '-'"),
    "network": Field(_LINE, "the network in one line; {name} and {expression} are filled from where"),
    "where": Field(
        {
            "type": "object",
            "propertyNames": {"pattern": _whole(NAME), "not": {"enum": ["and", "or", "not", "min", "max"]}},
            "maxProperties": MAX_NAMES,
            "additionalProperties": {
                "oneOf": [
                    _INTEGER,
                    _text(RANGE),
                    {"type": "array", "items": _INTEGER, "minItems": 1, "maxItems": MAX_LISTED, "uniqueItems": True},
                    {"type": "array", "items": _text(WORD), "minItems": 1, "maxItems": MAX_LISTED, "uniqueItems": True},
                ]
            },
        },
        "the names and their values: '1..4', [1, 2, 5], 3, or words such as ['', 'causal']",
    ),
    "when": Field({"type": "string", "minLength": 1, "maxLength": MAX_EXPRESSION}, "only where this condition holds"),
    "dimension": Field(_VALUE, "the dimension is this integer or expression", True),
    "at_least": Field(_VALUE, "the dimension is at least this", True),
    "at_most": Field(_VALUE, "the dimension is at most this", True),
    "parameters": Field(_VALUE, "the network has this many parameters", True),
    "redundancy": Field(_VALUE, "parameters - dimension is this", True),
    "same_dimension_as": Field(_LINE, "the dimension is that of this network, a line as in network", True),
    "fiber_dimension": Field(_VALUE, "the dimension of the fiber over a generic function is this", True),
    "degree": Field(_VALUE, "the degree of the network in its input X is this", True),
    "model": Field(_text(MODEL), "package.module:function, fn(params, X), computes this network", True),
    "proved": Field(
        _text(ID), "the claim of this name in the verifiers' catalogue is proved; stands without network", True
    ),
    "require": Field({"enum": list(LABELS)}, "the weakest label that counts; default proven"),
    "expect": Field({"enum": ["holds", "refuted"]}, "what the gate wants; default holds"),
    "source": Field(
        {"type": "string", "minLength": 1, "maxLength": 500, "pattern": _whole(r"[^\x00-\x1f\x7f]*")},
        "where the claim comes from",
    ),
}
STATEMENTS = tuple(name for name, field in FIELDS.items() if field.statement)


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a claim file read as JSON. It checks shapes; expressions and networks are checked by the parser."""
    claim = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: {"description": f.meaning, **f.schema} for name, f in FIELDS.items()},
        "anyOf": [{"required": [name]} for name in STATEMENTS],
        "if": {"required": ["proved"]},
        "then": {"propertyNames": {"enum": ["id", "proved", "expect", "source"]}},
        "else": {"required": ["network"]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "neuromanifold claim file",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "schema": {"const": 1},
            "claim": {"type": "array", "items": claim, "maxItems": MAX_CLAIMS},
        },
    }


def problem(name: str, value: Any, rule: dict[str, Any]) -> str | None:
    """What is wrong with a value under one of the schemas above, or None; the subset of JSON Schema that the table uses."""
    if "oneOf" in rule:
        return None if any(problem(name, value, option) is None for option in rule["oneOf"]) else _wrong(name, value)
    if "enum" in rule:
        return None if value in rule["enum"] else f"{show(value)} is not one of {', '.join(rule['enum'])}"
    kinds = {"integer": int, "string": str, "array": list, "object": dict}
    if not isinstance(value, kinds[rule["type"]]) or isinstance(value, bool):
        return _wrong(name, value)
    if isinstance(value, int) and not rule["minimum"] <= value <= rule["maximum"]:
        return f"{show(value)} is out of range: at most 10^18"
    if isinstance(value, str):
        if not rule.get("minLength", 0) <= len(value) <= rule.get("maxLength", len(value)):
            return f"has {len(value)} characters; between {rule['minLength']} and {rule['maxLength']} are possible"
        if "pattern" in rule and not re.search(rule["pattern"], value):
            return _wrong(name, value)
    if isinstance(value, list):
        if not rule["minItems"] <= len(value) <= rule["maxItems"]:
            return f"has {len(value)} values; between {rule['minItems']} and {rule['maxItems']} are possible"
        if any(problem(name, item, rule["items"]) for item in value) or len(set(value)) < len(value):
            return _wrong(name, value)
    return None


def _wrong(name: str, value: Any) -> str:
    key = name.partition(".")[0]
    return f"{show(value)} does not fit: {FIELDS[key].meaning}"


def show(value: Any) -> str:
    """A value of a hostile file, short and in plain ASCII."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


if __name__ == "__main__":
    print(json.dumps(schema(), indent=1))
