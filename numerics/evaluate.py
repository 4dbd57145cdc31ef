"""Interpreters of programs over a ring: values, and exact forward-mode derivatives with respect to the parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .program import Program
from .rings import Array, Ring

INPUTS = "*"  # axis over inputs, in front
TANGENT = "#"  # axis over the parameters of one tensor, after it
MAX_ENTRIES = 1 << 24  # of one tangent tensor: more inputs are evaluated in slices


class Lifted:
    """A value during evaluation: the array, and whether it has the axis over inputs in front."""

    __slots__ = ("array", "inputs")

    def __init__(self, array: Any, inputs: bool):
        self.array = array
        self.inputs = inputs

    @property
    def axes(self) -> str:
        """The letters of the axes in front."""
        return INPUTS if self.inputs else ""


def evaluate(program: Program, ring: Ring, bindings: Mapping[str, Any]) -> list[Lifted]:
    """The values of all instructions; `bindings` gives params, X, constants and (formal rings) the units of exponentials.

    A bound array may have one axis more than the program says, in front: the axis over inputs. The arrays are lifted by
    the ring. Raises `NotInvertible` where a denominator is not a unit.
    """
    values: list[Lifted] = []
    for step in program.instructions:
        args = [values[i] for i in step.operands]
        if step.operation in ("param", "input", "generic"):
            value = _bound(ring, bindings[step.data], step.shape, step.operation == "generic")
        elif step.operation == "const":
            value = Lifted(ring.lift(step.data), False)
        elif step.operation == "exp":
            if ring.formal:
                value = _bound(ring, bindings[step.data.label], step.shape, False)
            else:
                value = Lifted(ring.exp(args[0].array, step.data), args[0].inputs)
        elif step.operation == "einsum":
            x, y = args
            inputs = x.inputs or y.inputs
            left, right, out = step.data
            array = ring.einsum(x.axes + left, y.axes + right, INPUTS * inputs + out, x.array, y.array)
            value = Lifted(array, inputs)
        elif step.operation in ("add", "mul"):
            x, y = args
            combine = ring.add if step.operation == "add" else ring.mul
            value = Lifted(combine(x.array, y.array), x.inputs or y.inputs)
        else:
            unary = ring.reciprocal if step.operation == "reciprocal" else ring.root
            value = Lifted(unary(args[0].array), args[0].inputs)
        values.append(value)
    return values


def _bound(ring: Ring, given: Any, shape: tuple[int, ...], shared: bool) -> Lifted:
    array = given if hasattr(given, "shape") else np.asarray(given)  # arrays of other libraries stay what they are
    if shared and np.shape(array) != shape:
        count = math.prod(shape)  # layers with fewer planes or heads use the first constants
        array = array.reshape(-1)[:count].reshape(shape)
    inputs = len(np.shape(array)) == len(shape) + 1
    if np.shape(array)[inputs:] != shape:
        raise ValueError(f"shape {np.shape(array)} does not fit {shape}")
    return Lifted(ring.lift(array), inputs)


@dataclass
class Dual:
    """A value with its tangents, one tensor (inputs?, size of the block, *shape) a block of parameters that it depends on.

    A parameter's tangent with respect to itself is the identity and is not stored: `identity` names its block.
    """

    value: Lifted
    identity: str | None = None
    tangents: dict[str, Lifted] = field(default_factory=dict)


def jacobian(program: Program, ring: Ring, bindings: Mapping[str, Any], differentiate: int | None = None) -> Array:
    """The exact Jacobian of the output with respect to all parameters.

    Shape (inputs * size of the output, number of parameters); rows ordered by input, then output coordinate, then token;
    columns by parameter tensor in program order, each flattened row-major. `differentiate` names another value than the output.
    """
    target = program.output if differentiate is None else differentiate
    many = {k: v for k, v in bindings.items() if has_inputs(program, k, v)}
    count = len(next(iter(many.values()))) if many else 1
    blocks = [(s.data, math.prod(s.shape)) for s in program.instructions if s.operation == "param"]
    widest = max((math.prod(s.shape) for s in program.instructions), default=1)
    largest = max((size for _, size in blocks), default=1)
    slice_size = max(1, MAX_ENTRIES // (widest * largest))
    pieces = []
    for start in range(0, count, slice_size):
        part = {k: (v[start : start + slice_size] if k in many else v) for k, v in bindings.items()}
        pieces.append(_jacobian_slice(program, ring, part, target, blocks, min(slice_size, count - start)))
    return np.concatenate(pieces) if len(pieces) > 1 else pieces[0]


def has_inputs(program: Program, label: str, given: Any) -> bool:
    """Whether what is given for a param, the input or units has an axis over inputs in front."""
    for step in program.instructions:
        name = step.data.label if step.operation == "exp" else step.data
        if step.operation in ("param", "input", "exp") and name == label:
            return len(np.shape(given)) == len(step.shape) + 1
    return False


def _jacobian_slice(
    program: Program, ring: Ring, bindings: Mapping[str, Any], target: int, blocks: list[tuple[str, int]], count: int
) -> Array:
    values = evaluate(program, ring, bindings)
    duals: list[Dual] = []
    for index, step in enumerate(program.instructions[: target + 1]):
        dual = Dual(values[index])
        if step.operation == "param":
            dual.identity = step.data
        elif step.operation == "einsum":
            _einsum_tangents(program, ring, duals, dual, step.operands, step.data)
        elif step.operands:
            _entrywise_tangents(program, ring, duals, dual, index, values)
        duals.append(dual)
    size = math.prod(program.shape(target))
    columns = []
    for block, width in blocks:
        tangent = _tangents(program, ring, duals[target], block, program.shape(target))
        if tangent is None:
            columns.append(ring.lift(np.zeros((count * size, width), dtype=int)))
            continue
        array = np.broadcast_to(tangent.array, (count, width, *program.shape(target)))
        columns.append(array.reshape(count, width, size).swapaxes(1, 2).reshape(count * size, width))
    return np.concatenate(columns, axis=1)


def _tangents(program: Program, ring: Ring, dual: Dual, block: str, shape: tuple[int, ...]) -> Lifted | None:
    """The tangent of a block, the identity written out."""
    if dual.identity == block:
        size = math.prod(shape)
        return Lifted(ring.lift(np.eye(size, dtype=int).reshape(size, *shape)), False)
    return dual.tangents.get(block)


def _accumulate(ring: Ring, dual: Dual, block: str, tangent: Lifted) -> None:
    old = dual.tangents.get(block)
    if old is None:
        dual.tangents[block] = tangent
        return
    dual.tangents[block] = Lifted(ring.add(old.array, tangent.array), old.inputs or tangent.inputs)


def _einsum_tangents(
    program: Program, ring: Ring, duals: list[Dual], dual: Dual, operands: tuple[int, ...], data: tuple[str, str, str]
) -> None:
    x, y = operands
    left, right, out = data
    for me, other, mine, theirs in ((x, y, left, right), (y, x, right, left)):
        fixed = duals[other].value
        if duals[me].identity is not None:
            tangent = _identity_einsum(ring, mine, theirs, out, program.shape(me), fixed)
            _accumulate(ring, dual, str(duals[me].identity), tangent)
        for block, t in duals[me].tangents.items():
            inputs = t.inputs or fixed.inputs
            array = ring.einsum(
                t.axes + TANGENT + mine, fixed.axes + theirs, INPUTS * inputs + TANGENT + out, t.array, fixed.array
            )
            _accumulate(ring, dual, block, Lifted(array, inputs))


def _identity_einsum(ring: Ring, mine: str, theirs: str, out: str, shape: tuple[int, ...], fixed: Lifted) -> Lifted:
    """d/dM of einsum(M, Y): Y with a delta for every letter of M that survives, a new axis for every letter of M."""
    new = {c: chr(ord("A") + i) for i, c in enumerate(mine)}
    sizes = dict(zip(mine, shape, strict=True))
    array, letters = fixed.array, fixed.axes + theirs
    for c in mine:
        if c in out:  # the delta replaces letter c (kept) by c and its copy
            target = letters + new[c] if c in letters else letters + c + new[c]
            eye = ring.lift(np.eye(sizes[c], dtype=int))
            array = ring.einsum(letters, c + new[c], target, array, eye)
            letters = target
        elif c in letters:
            letters = letters.replace(c, new[c])
        else:
            raise ValueError(f"{mine},{theirs}->{out}: a summed letter must occur in both operands")
    order = fixed.axes + "".join(new[c] for c in mine) + out
    array = array.transpose([letters.index(c) for c in order])
    size = math.prod(shape)
    lead = array.shape[: len(fixed.axes)]
    return Lifted(array.reshape(*lead, size, *array.shape[len(fixed.axes) + len(mine) :]), fixed.inputs)


def _entrywise_tangents(
    program: Program, ring: Ring, duals: list[Dual], dual: Dual, index: int, values: list[Lifted]
) -> None:
    step = program.instructions[index]
    for position, operand in enumerate(step.operands):
        factor = partial(ring, step.operation, step.operands, position, values, index)
        blocks = list(duals[operand].tangents)
        if duals[operand].identity is not None:
            blocks.append(str(duals[operand].identity))
        for block in blocks:
            t = _tangents(program, ring, duals[operand], block, program.shape(operand))
            if t is None:
                continue
            array, inputs = t.array, t.inputs
            if factor is not None:
                inputs = inputs or factor.inputs
                array = ring.mul(array, np.expand_dims(factor.array, int(factor.inputs)))
            lead = array.shape[: int(inputs) + 1]
            _accumulate(ring, dual, block, Lifted(np.broadcast_to(array, (*lead, *step.shape)), inputs))


def partial(
    ring: Ring, operation: str, operands: tuple[int, ...], position: int, values: list[Lifted], index: int
) -> Lifted | None:
    """The partial derivative of an entrywise instruction by one operand (None: 1)."""
    result = values[index]
    if operation == "add":
        return None
    if operation == "mul":
        return values[operands[1 - position]]
    if operation == "exp":
        return result
    square = ring.mul(result.array, result.array)
    if operation == "reciprocal":  # d(1/x) = -1/x^2 dx
        return Lifted(ring.mul(square, ring.lift(np.array(-1))), result.inputs)
    cube = ring.mul(square, result.array)  # r^2 x = 1: dr = -r^3/2 dx
    half = ring.reciprocal(ring.lift(np.array(2)))
    return Lifted(ring.mul(cube, ring.mul(half, ring.lift(np.array(-1)))), result.inputs)
