"""Random programs, networks and exact points for the tests of numerics; everything is drawn from a seed."""

from __future__ import annotations

import functools
import random
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from neuromanifold.numerics.evaluate import evaluate
from neuromanifold.numerics.forward import record
from neuromanifold.numerics.network import Network, NetworkError
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.program import OPERATIONS, Exponentials, Program
from neuromanifold.numerics.rings import NotInvertible, Rationals

PROGRAMS = 60
NETWORKS = 40

# One line for each mechanism, so that none depends on luck; random networks come on top.
MECHANISMS = (
    "lightning d=2,3 a=2 t=2",
    "lightning d=2,2,2 a=1,2 t=2 heads=2,1 bias=qkvo",
    "lightning d=3,2 a=2 t=3 heads=4 kv=2 dv=2 causal rope",
    "lightning d=2,2 a=1 t=3 skip causal window=2 ffn=3:3 bias=ud",
    "lightning d=2,3 a=2 t=2 ffn=2:silu",
    "softmax d=2,2 a=2 t=2",
    "softmax d=2,2 a=2 t=3 heads=2 causal rope bias=qkvo",
    "softmax d=2,3 a=1 t=3 heads=2 kv=1 dv=2 causal window=2 alibi",
    "softmax d=1,2 a=2 t=3 causal alibi bias=qk",
    "softmax d=1,2 a=2 t=2 bias=qkv",
    "softmax d=2,2 a=2 t=1 skip ffn=2:gelu bias=ud",
    "softmax d=2,2 a=1 t=2 skip ffn=3:swiglu bias=u",
    "mlp d=2,3,2,1 r=3",
)


@dataclass(frozen=True)
class Case:
    """A program, exact bindings for everything it reads, and its exact values there (exponentials are units of the point)."""

    name: str
    program: Program
    bindings: dict[str, Any]
    values: list[Any]


def fractions(rng: random.Random, shape: tuple[int, ...], zero: bool = True) -> np.ndarray:
    """Small random fractions."""
    array = np.empty(shape, dtype=object)
    for index in np.ndindex(*shape):
        top = rng.choice([n for n in range(-4, 5) if zero or n])
        array[index] = Fraction(top, rng.choice([1, 2, 3, 5]))
    return array


def random_point(program: Program, rng: random.Random, inputs: int | None = None) -> dict[str, Any]:
    """Exact bindings; with `inputs`, X and the units have an axis over inputs in front."""
    bindings = {}
    symmetric = {s.data.label for s in program.instructions if s.operation == "exp" and s.data.symmetric}
    per_input = {s.data.label if s.operation == "exp" else s.data for s in program.instructions if s.operation in ("input", "exp")}
    units = per_input - {"X"} | {s.data for s in program.instructions if s.operation == "generic"}
    for label, names in program.entry_names().items():
        lead = (inputs,) if inputs and label in per_input else ()
        array = fractions(rng, (*lead, *names.shape), zero=label not in units)
        if label in symmetric:
            array = np.where(np.triu(np.ones(names.shape[-2:], dtype=bool)), array, array.swapaxes(-1, -2))
        bindings[label] = array
    return bindings


def random_program(rng: random.Random, steps: int = 8) -> Program:
    """Parameters, an input, a constant, a generic constant, then random instructions; a root is taken of a square, then squared."""
    p = Program()

    def shape(rank: int | None = None) -> tuple[int, ...]:
        return tuple(rng.randint(1, 3) for _ in range(rng.randint(0, 3) if rank is None else rank))

    pool = [p.param("A", shape(2)), p.param("B", shape()), p.input(shape(2)), p.generic("c", shape(1))]
    pool.append(p.const(fractions(rng, shape()) if rng.random() < 0.5 else np.array(rng.randint(1, 3))))
    for step in range(steps):
        kind = rng.choice(["einsum", "einsum", "add", "mul", "reciprocal", "exp", "root"])
        x = rng.choice(pool)
        if kind == "einsum":
            pool.append(_random_einsum(p, rng, x, rng.choice(pool)))
        elif kind in ("add", "mul"):
            fits = [y for y in pool if _broadcasts(p.shape(x), p.shape(y))]
            pool.append((p.add if kind == "add" else p.mul)(x, rng.choice(fits)))
        elif kind == "reciprocal":
            pool.append(p.reciprocal(x))
        elif kind == "exp":
            pool.append(p.exp(x, Exponentials(f"e{step}", np.ones(p.shape(x), dtype=bool))))
        else:
            r = p.root(p.mul(x, x))
            pool.append(p.mul(r, r))
    p.output = pool[-1]
    return p


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return len(a) == len(b) and all(m == n or 1 in (m, n) for m, n in zip(a, b, strict=True))


def _random_einsum(p: Program, rng: random.Random, x: int, y: int) -> int:
    left = "abcdef"[: len(p.shape(x))]
    letters = list("uvwxyz"[: len(p.shape(y))])
    free = dict(zip(left, p.shape(x), strict=True))
    for i, size in enumerate(p.shape(y)):
        matching = [c for c, s in free.items() if s == size]
        if matching and rng.random() < 0.7:
            letters[i] = rng.choice(matching)
            del free[letters[i]]
    right = "".join(letters)
    out = [c for c in {*left, *right} if not (c in left and c in right) or rng.random() < 0.4]
    out.sort()
    rng.shuffle(out)
    return p.einsum(f"{left},{right}->{''.join(out)}", x, y)


def random_network(rng: random.Random) -> Network:
    """A small network of any mechanism but norms (their roots are irrational)."""
    while True:
        l = rng.randint(1, 2)
        kind = rng.choice(["lightning", "lightning", "softmax", "softmax", "mlp"])
        widths = ",".join(str(rng.randint(1, 3)) for _ in range(l + 1))
        words = [kind, f"d={widths}"]
        if kind == "mlp":
            words.append(f"r={rng.randint(1, 3)}")
        else:
            words += [f"a={rng.randint(1, 2)}", f"t={rng.randint(1, 3)}"]
            for word in ("skip", "rope", "alibi", "heads=2", "dv=2", "bias=qv", "bias=ko", "ffn=2:2", "ffn=2:gelu", "ffn=1:swiglu"):
                if rng.random() < 0.25 and word.partition("=")[0] not in [w.partition("=")[0] for w in words]:
                    words.append(word)
            if "heads=2" in words and rng.random() < 0.5:
                words.append("kv=1")
            if rng.random() < 0.3:
                words.append("causal")
        try:
            return parse(" ".join(words))
        except NetworkError:
            continue


def case_of(name: str, program: Program, rng: random.Random, inputs: int | None = None) -> Case | None:
    """A case at a random point, or None where some denominator is zero."""
    bindings = random_point(program, rng, inputs)
    try:
        values = [v.array for v in evaluate(program, Rationals(), bindings)]
    except NotInvertible:
        return None
    return Case(name, program, bindings, values)


@functools.cache
def all_cases() -> tuple[Case, ...]:
    """`PROGRAMS` random programs, the mechanisms and `NETWORKS` random networks, each at a point, some at several inputs."""
    rng = random.Random(0)
    found: list[Case] = []
    while len(found) < PROGRAMS:
        case = case_of(f"program {len(found)}", random_program(rng), rng, rng.choice([None, 2]))
        found += [case] if case else []
    for network in [*map(parse, MECHANISMS), *(random_network(rng) for _ in range(NETWORKS))]:
        case = None
        while case is None:
            case = case_of(str(network), record(network), rng, rng.choice([None, 2]))
        found.append(case)
    used = Counter(s.operation for case in found for s in case.program.instructions)
    assert set(used) == set(OPERATIONS), used
    assert min(used[o] for o in OPERATIONS) >= 20, used
    return tuple(found)


@pytest.fixture(scope="session")
def cases() -> tuple[Case, ...]:
    return all_cases()
