"""Varieties that contain the functions of attention: never smaller than the exact rank, and each condition of a formula is needed."""

from __future__ import annotations

import json
import random
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from neuromanifold.numerics.evaluate import jacobian
from neuromanifold.numerics.network import Network, NetworkError
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.point import Point
from neuromanifold.numerics.rank import kernel
from neuromanifold.numerics.rings import DEFAULT_PRIME, PrimeField
from neuromanifold.verifiers import attention_space, replay
from neuromanifold.verifiers.blocks import Block
from neuromanifold.verifiers.certificate import dumps, prove_bounds
from neuromanifold.verifiers.stream_widths import outputs, read_forms

RING = PrimeField(DEFAULT_PRIME)
SOURCE = Path(attention_space.__file__).read_text(encoding="utf-8")


def random_layers(count: int, seed: int) -> Iterator[Network]:
    """Single lightning layers of up to 120 parameters, every mechanism often."""
    rng = random.Random(seed)
    while count:
        kv, skip, rope = rng.choice((1, 1, 2, 3)), rng.random() < 0.3, rng.random() < 0.3
        m = rng.randint(1, 4)
        words = ["lightning", f"d={m},{m if skip else rng.randint(1, 5)}", f"a={rng.choice((2, 4) if rope else (1, 1, 2, 3, 4))}"]
        words += [f"t={rng.choice((1, 2, 2, 3))} heads={kv * rng.choice((1, 1, 2, 3))} kv={kv}"]
        words += [f"dv={rng.choice((1, 1, 2, 3))}"] * (rng.random() < 0.5) + ["skip"] * skip + ["rope"] * rope
        words += ["causal" + " window=2" * (rng.random() < 0.3)] * (rng.random() < 0.4)
        bias = "".join(c for c in "qkvo" if rng.random() < 0.5) if rng.random() < 0.4 else ""
        words += [f"bias={bias}"] * bool(bias)
        if skip:
            words += [f"norm={rng.choice(('layer', 'rms'))}"] * (rng.random() < 0.5)
        elif rng.random() < 0.3:
            words.append(f"ffn={rng.choice((1, 2))}:{rng.choice(('2', 'swiglu'))}")
        try:
            network = parse(" ".join(words))
        except NetworkError:
            continue
        if network.parameters <= 120:
            count -= 1
            yield network


def exact_rank(network: Network) -> int:
    """The rank mod p of the attention block at a random point: its dimension, up to bad luck, and never more."""
    program = Block("attention", 1).program(network)
    names = [s.data for s in program.instructions if s.operation == "param"]
    point = Point(1, RING.p).parameters(network)
    size = sum(point[n].size for n in names)
    rows = min(int(np.prod(program.shape(program.output))), network.t)
    read = {s.data: point[s.data] for s in program.instructions if s.operation == "generic" and s.data in point}
    drawn = Point(1, RING.p, "inputs/").inputs(program, range(size // rows + 4))
    constants = {k: v for k, v in Point(1, RING.p).constants(program).items() if k not in read}
    matrix = jacobian(program, RING, {**read, **{n: point[n] for n in names}, **drawn, **constants})
    return matrix.shape[1] - len(kernel(matrix, RING))


def dimension(network: Network, module: types.ModuleType = attention_space) -> int:
    return module.attention_dimension(network, network.layers[0])


def test_never_below_the_exact_rank_and_often_equal() -> None:
    equal, sharper, seen = 0, 0, set()
    for network in random_layers(700, seed=0):
        rank, bound = exact_rank(network), dimension(network)
        assert rank <= bound, f"{network}: rank {rank}, bound {bound}"
        equal += rank == bound
        y = network.layers[0]
        m, letters = read_forms(network, y)
        sharper += rank == bound < outputs(network, y) * (m + 1 - len(letters) // 3) * m
        seen |= {network.norm, network.rope, network.t, y.dv is None, network.causal, network.bias != ""}
    assert equal >= 550, equal
    assert sharper >= 150, sharper
    assert seen >= {"layer", "rms", None, True, False, 2, 3}


def test_writer_and_checker_agree() -> None:
    for network in random_layers(1500, seed=1):
        assert replay.attention_space(replay.parse(str(network)), 1) == dimension(network), network


# (what is changed in the formulas, a layer for which the result is then below the exact rank)
MUTANTS = [
    ("if one else []", "if True else []", "lightning d=1,1 a=1 t=3 skip causal bias=qvo norm=layer"),
    ("y.a * form)", "y.a // 2 * form)", "lightning d=1,1 a=2 t=2 skip causal rope"),
    ("if rows == 1 and own <= other:", "if rows == 1:", "lightning d=1,3 a=1 t=2 heads=4 kv=2 bias=k"),
    ("max(forms, others)", "min(forms, others)", "lightning d=1,1 a=1 t=2 dv=1 skip causal bias=qvo norm=rms"),
    ("self.heads * self.rows or self.values", "self.heads * self.rows or 1", "lightning d=2,2 a=1 t=2"),
    ('    own = rows * ("o" in network.bias)', "    own = 0", "lightning d=1,1 a=1 t=2 dv=1 skip causal bias=qvo norm=rms"),
    ("max(0, 2 * heads - narrow)", "heads", "lightning d=3,1 a=1 t=3 heads=2"),
    ("if rows == 1 and", "if", "lightning d=2,3 a=1 t=2 heads=4 kv=2 causal"),
    ("u * (self.keys - u)", "0", "lightning d=2,2 a=1 t=2"),
    ("p * (self.values - p) + u", "u", "lightning d=1,1 a=1 t=2 dv=1 skip causal bias=qvo norm=rms"),
    ("p * (self.values - p) + of_rank", "of_rank", "lightning d=1,1 a=2 t=2 dv=1 skip causal rope bias=vo"),
    ("if parts == 2:", "if parts >= 2:", "lightning d=2,5 a=1 t=3 heads=3 causal"),
    ("yield y.dv, y.per_group, y.kv", "yield y.dv, 1, y.kv", "lightning d=2,2 a=1 t=2 heads=2 kv=1 dv=1"),
    ("yield span * (self.outputs - span), ", "yield 0, ", "lightning d=1,3 a=1 t=3"),
    ("yield span * (self.queries - span), ", "yield 0, ", "lightning d=1,1 a=1 t=2 dv=1 skip causal bias=qvo norm=rms"),
    ("        yield 0, 1, y.kv", "        yield 0, 1, 1", "lightning d=1,2 a=2 t=3 heads=2 rope"),
    ('if not (network.kind == "softmax" and k):', "if not k:", "lightning d=1,1 a=2 t=2 dv=1 skip causal rope norm=layer"),
    ("self.count // j * together[j] + together[self.count % j]", "together[j]", "lightning d=2,2 a=1 t=2 heads=2 kv=1 dv=1"),
    ("min(rows, p) * min(self.a, u)", "min(rows, p)", "lightning d=2,1 a=2 t=2 causal bias=vo"),
]


@pytest.mark.parametrize(("old", "new", "spec"), MUTANTS)
def test_each_condition_is_needed(old: str, new: str, spec: str) -> None:
    assert SOURCE.count(old) == 1
    network = parse(spec)
    rank = exact_rank(network)
    assert dimension(network, mutated(old, new)) < rank <= dimension(network)


def mutated(old: str, new: str) -> types.ModuleType:
    module = types.ModuleType("neuromanifold.verifiers.mutated_space")
    module.__package__ = "neuromanifold.verifiers"
    sys.modules[module.__name__] = module
    exec(compile(SOURCE.replace(old, new), "mutated", "exec"), module.__dict__)
    return module


PROVEN = [
    ("lightning d=3,3 a=3 t=2 heads=4 kv=2 dv=1", 41),
    ("lightning d=3,3 a=1 t=2 heads=4 kv=2 dv=3", 41),
    ("lightning d=2,2 a=1 t=2 heads=6 kv=3 dv=1 bias=vo", 20),
    ("lightning d=2,3 a=2 t=3 heads=3 bias=qk", 36),
    ("lightning d=4,2 a=4 t=2 heads=4 kv=2 dv=1", 60),
    ("lightning d=4,4 a=2 t=1 heads=2 kv=1 dv=3 skip", 41),
    ("lightning d=3,3 a=3 t=1 heads=2 kv=1 dv=2 skip", 22),
    ("lightning d=2,2 a=4 t=2 heads=2 causal rope", 18),
    ("lightning d=3,3 a=4 t=2 heads=2 skip causal rope norm=layer", 44),
    ("lightning d=2,3 a=2 t=1 heads=2 dv=1", 10),
]


@pytest.mark.parametrize(("spec", "value"), PROVEN)
def test_layers_that_nearly_fill_their_space_are_proven(spec: str, value: int) -> None:
    proof = prove_bounds(parse(spec))
    assert (proof.lower, proof.upper) == (value, value)
    assert replay.replay(dumps(proof.certificate)).verdict == "valid"


def test_a_kernel_counts_only_at_the_proven_dimension() -> None:
    """The same block with fewer inputs has a larger kernel, and below the proven dimension it is refused."""
    certificate = prove_bounds(parse("lightning d=3,3 a=3 t=2 heads=4 kv=2 dv=1 skip")).certificate
    place = next(f for f in certificate["upper"]["fields"] if f.get("part") == "attention")
    for inputs, verdict in ((place["inputs"], "valid"), (place["inputs"] + 3, "valid"), (3, "invalid")):
        place["inputs"] = inputs
        assert replay.replay(json.dumps(certificate)).verdict == verdict
    certificate["spec"] = certificate["spec"].replace("lightning", "softmax")
    assert replay.replay(json.dumps(certificate)).verdict == "invalid"
