"""A parameter point: one array of fractions for each tensor of the network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from ...numerics.network import Network
from ...numerics.rings import Array

Theta = dict[str, Array]

MAX_PARAMETERS = 100_000
MAX_DIGITS = 4_000  # of numerator or denominator of one number, about the range of a float64 and then some
MAX_EXPONENT = 4_000  # of a decimal string: 1e999999999 would fill the memory


class ThetaError(ValueError):
    """The given values are no parameter point of the network. The message names the tensor and what is wrong."""


def exact_theta(network: Network, given: Mapping[str, Any]) -> Theta:
    """The point as arrays of `Fraction`, by the names and shapes of `network.parameter_shapes()`.

    Each tensor is a nested list or an array of integers, fractions, decimal strings ("0.1", "1/3") or floats; a float is the
    exact rational that it is (0.1 is 3602879701896397/36028797018963968). Raises `ThetaError` for missing or unknown tensors, wrong
    shapes, numbers that are not finite, and for more than `MAX_PARAMETERS` parameters.
    """
    if network.parameters > MAX_PARAMETERS:
        raise ThetaError(f"{network.parameters} parameters are more than the {MAX_PARAMETERS} that exact arithmetic is tried on")
    if not isinstance(given, Mapping):
        raise ThetaError(f"parameters are a mapping from names to tensors, not {type(given).__name__}")
    shapes = dict(network.parameter_shapes())
    unknown = [str(name) for name in given if name not in shapes]
    if unknown:
        raise ThetaError(f"this network has no tensor {unknown[0][:60]!r}; it has {', '.join(shapes)}"[:600])
    missing = [name for name in shapes if name not in given]
    if missing:
        raise ThetaError(f"the tensor {missing[0]!r} of shape {shapes[missing[0]]} is missing")
    return {name: _tensor(name, shape, given[name]) for name, shape in shapes.items()}


def _tensor(name: str, shape: tuple[int, ...], given: Any) -> Array:
    flat: list[Any] = []
    found = _flatten(name, given, flat, len(shape), math.prod(shape))
    if found != shape:
        raise ThetaError(f"{name} has shape {found}, this network needs {shape}")
    made = np.empty(len(flat), dtype=object)
    made[:] = [_number(name, v) for v in flat]
    return made.reshape(shape)


def _flatten(name: str, given: Any, flat: list[Any], depth: int, limit: int) -> tuple[int, ...]:
    """Append the entries of a nested list in row-major order and return its shape."""
    if isinstance(given, np.ndarray):
        if given.ndim != depth or given.size > limit:
            return tuple(given.shape)
        flat += given.reshape(-1).tolist() if given.dtype.kind in "iuf" else list(given.reshape(-1))
        return tuple(given.shape)
    if not isinstance(given, list | tuple):
        flat.append(given)
        return ()
    if depth == 0:
        raise ThetaError(f"{name} is nested deeper than its shape")
    shapes = {_flatten(name, part, flat, depth - 1, limit) for part in given}
    if len(flat) > limit:
        raise ThetaError(f"{name} has more than {limit} entries")
    if len(shapes) > 1:
        raise ThetaError(f"{name} is ragged: it has parts of shapes {' and '.join(map(str, sorted(shapes)[:2]))}")
    return (len(given), *(shapes.pop() if shapes else ()))


def _number(name: str, value: Any) -> Fraction:
    try:
        if isinstance(value, bool | np.bool_):
            raise ValueError
        if isinstance(value, Rational | np.integer):
            number = Fraction(int(value.numerator), int(value.denominator))
        elif isinstance(value, float | np.floating):
            number = Fraction(*float(value).as_integer_ratio())
        elif isinstance(value, str) and len(value) <= 2 * MAX_DIGITS and value.isascii():
            number = _text(value)
        else:
            raise ValueError
    except (ValueError, ArithmeticError):
        raise ThetaError(f"{name} holds {str(value)[:40]!r}: numbers are finite integers, decimals, fractions or floats") from None
    if max(abs(number.numerator), number.denominator).bit_length() > 3.33 * MAX_DIGITS:
        raise ThetaError(f"{name} holds a number of more than {MAX_DIGITS} digits")
    return number


def _text(value: str) -> Fraction:
    top, slash, bottom = value.partition("/")
    if slash:
        return Fraction(int(top), int(bottom))
    decimal = Decimal(value)
    if not decimal.is_finite() or abs(decimal.adjusted()) > MAX_EXPONENT:
        raise ValueError
    return Fraction(decimal)
