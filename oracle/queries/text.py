"""Exact numbers as JSON: strings of integers and fractions, in nested lists."""

from __future__ import annotations

from typing import Any

from ...numerics.rings import Array


def tensor_json(array: Array) -> Any:
    """Nested lists of strings, "3" or "-1/2"; `exact_theta` reads them back."""
    return [str(v) for v in array] if array.ndim == 1 else [tensor_json(part) for part in array]
