"""The exact Jacobian in reverse: outputs are few and parameters many, so one pass for each output is the cheaper way."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .evaluate import INPUTS, TANGENT, Lifted, evaluate, has_inputs, partial
from .program import Instruction, Program
from .rings import Array, PrimeField

SLICE_ENTRIES = 1 << 21  # of the Jacobian that are made at once


def jacobian_columns(
    program: Program,
    ring: PrimeField,
    bindings: Mapping[str, Any],
    columns: Array | None = None,
    outputs: Array | None = None,
) -> Array:
    """The columns (numbers, increasing; default: all) of `evaluate.jacobian`, with the same order of rows and columns.

    `outputs`: of each input the rows of these entries of the output only (numbers, increasing; default: all). Little
    memory is used besides the result. Raises `NotInvertible` where a denominator is not a unit.
    """
    many = {k: v for k, v in bindings.items() if has_inputs(program, k, v)}
    count = len(next(iter(many.values()))) if many else 1
    if outputs is None:
        outputs = np.arange(math.prod(program.shape(program.output)))
    size = len(outputs)
    places = _places(program, columns)
    result = np.zeros((count, size, sum(len(chosen) for _, chosen in places.values())))
    parameters = sum(math.prod(s.shape) for s in program.instructions if s.operation == "param")
    step = max(1, SLICE_ENTRIES // (size * parameters))
    for start in range(0, count, step):
        part = {k: (v[start : start + step] if k in many else v) for k, v in bindings.items()}
        target = result[start : start + step]
        for name, block in _gradients(program, ring, part, outputs, {n for n, (_, chosen) in places.items() if len(chosen)}):
            at, chosen = places[name]
            array = block.array if block.inputs else block.array[None]
            target[:, :, at : at + len(chosen)] = array.reshape(*array.shape[:2], -1)[:, :, chosen]
    return result.reshape(count * size, -1)


def _places(program: Program, columns: Array | None) -> dict[str, tuple[int, Array]]:
    """For each parameter tensor: where its columns start in the result, and which of its entries they are."""
    made: dict[str, tuple[int, Array]] = {}
    start = at = 0
    for step in program.instructions:
        if step.operation != "param":
            continue
        size = math.prod(step.shape)
        inside = np.arange(size) if columns is None else columns[(columns >= start) & (columns < start + size)] - start
        made[step.data] = (at, inside)
        start, at = start + size, at + len(inside)
    return made


def _gradients(
    program: Program, ring: PrimeField, bindings: Mapping[str, Any], outputs: Array, wanted: set[str]
) -> Iterator[tuple[str, Lifted]]:
    """For each wanted parameter that the output depends on, the derivatives of the outputs: axes inputs?, outputs, the tensor's own."""
    values = evaluate(program, ring, bindings)
    moved = _moved(program, wanted)
    shape = program.shape(program.output)
    seeds = np.eye(math.prod(shape))[outputs].reshape(len(outputs), *shape)
    adjoints: dict[int, Lifted] = {program.output: Lifted(seeds, False)}
    for index in range(program.output, -1, -1):
        adjoint = adjoints.pop(index, None)
        step = program.instructions[index]
        if adjoint is None:
            continue
        if step.operation == "param":
            yield step.data, adjoint
        for position, operand in enumerate(step.operands):
            if not moved[operand]:
                continue
            if step.operation == "einsum":
                found = _through_einsum(ring, step, position, adjoint, values)
            else:
                found = _through_entries(program, ring, index, position, adjoint, values)
            old = adjoints.get(operand)
            if old is not None:
                found = Lifted(ring.add(old.array, found.array), old.inputs or found.inputs)
            adjoints[operand] = found


def _moved(program: Program, wanted: set[str]) -> list[bool]:
    """Which values depend on a wanted parameter: the others need no adjoint."""
    moved: list[bool] = []
    for step in program.instructions:
        moved.append(any(moved[i] for i in step.operands) or (step.operation == "param" and step.data in wanted))
    return moved


def _through_einsum(ring: PrimeField, step: Instruction, position: int, adjoint: Lifted, values: list[Lifted]) -> Lifted:
    letters = step.data[:2]
    other = values[step.operands[1 - position]]
    inputs = adjoint.inputs or other.inputs
    array = ring.einsum(
        adjoint.axes + TANGENT + step.data[2],
        other.axes + letters[1 - position],
        INPUTS * inputs + TANGENT + letters[position],
        adjoint.array,
        other.array,
    )
    return Lifted(array, inputs)


def _through_entries(
    program: Program, ring: PrimeField, index: int, position: int, adjoint: Lifted, values: list[Lifted]
) -> Lifted:
    """An entrywise instruction: times its partial derivative, summed over the axes along which the operand was repeated."""
    step = program.instructions[index]
    factor = partial(ring, step.operation, step.operands, position, values, index)
    array, inputs = adjoint.array, adjoint.inputs
    if factor is not None:
        inputs = inputs or factor.inputs
        array = ring.mul(array, np.expand_dims(factor.array, int(factor.inputs)))
    shape = program.shape(step.operands[position])
    lead = int(inputs) + 1
    array = np.broadcast_to(array, (*array.shape[:lead], *step.shape))
    for axis in [lead + k for k, (mine, whole) in enumerate(zip(shape, step.shape, strict=True)) if mine < whole]:
        array = ring.reduce(array.sum(axis=axis, keepdims=True))  # exact: axes of networks are shorter than 2^31
    return Lifted(array, inputs)
