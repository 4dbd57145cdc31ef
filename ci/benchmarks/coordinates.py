"""Coordinate certificates: how seconds and bytes grow with depth, heads and tokens, at the sizes of a Llama block."""

from __future__ import annotations

import json

from neuromanifold.numerics.notation import parse
from neuromanifold.verifiers.coordinates.certify import coordinate_certificate
from neuromanifold.verifiers.replay import replay
from table import Table, side_by_side

PATTERN = "softmax d=4096 l={l} a=128 dv=128 heads={heads} kv=8 t={t} skip causal rope norm=rms ffn=14336:swiglu"
UNIT = {"l": 8, "heads": 16, "t": 64}
LARGER = {"l": (32, 128), "heads": (32, 64), "t": (1024, 16384)}
QUICK = 1  # of the larger values


def measure(rounds: int, quick: bool) -> list[Table]:
    """For each of depth, heads and tokens: the proof and its replay as ratios to those of the smallest."""
    return [table for name, values in LARGER.items() for table in _growth(name, values[:QUICK] if quick else values, rounds)]


def _growth(name: str, values: tuple[int, ...], rounds: int) -> list[Table]:
    networks = {f"{name}={value}": parse(PATTERN.format(**{**UNIT, name: value})) for value in (UNIT[name], *values)}
    texts = {title: json.dumps(coordinate_certificate(network)) for title, network in networks.items()}
    verdicts = {title: replay(text).verdict for title, text in texts.items()}
    note = ", ".join(f"{title}: {len(text)} bytes, {verdicts[title]}" for title, text in texts.items())
    write = {title: lambda n=network: coordinate_certificate(n) for title, network in networks.items()}
    check = {title: lambda t=text: replay(t) for title, text in texts.items()}
    few = min(rounds, 3)
    made = side_by_side(f"Coordinate certificate of Llama blocks, {name} grows", write, few, warm=False)
    read = side_by_side(f"Its replay, {name} grows", check, few, warm=False)
    return [made, Table(read.title, read.seconds, (note,))]
