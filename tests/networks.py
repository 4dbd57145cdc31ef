"""Random networks of the whole notation, seeded: the same seed gives the same networks on every machine."""

from __future__ import annotations

import random
from collections.abc import Iterator

from neuromanifold.numerics.network import Network, NetworkError
from neuromanifold.numerics.notation import parse

MAX_PARAMETERS = 150


def random_networks(count: int, seed: int = 0) -> Iterator[Network]:
    """`count` networks of at most `MAX_PARAMETERS` parameters; every mechanism of the notation occurs often."""
    rng = random.Random(seed)
    found = 0
    while found < count:
        try:
            network = parse(_line(rng))
        except NetworkError:
            continue
        if network.parameters <= MAX_PARAMETERS:
            found += 1
            yield network


def _line(rng: random.Random) -> str:
    kind = rng.choices(("lightning", "softmax", "mlp"), (45, 45, 10))[0]
    if kind == "mlp":
        widths = [rng.randint(1, 5) for _ in range(rng.randint(2, 5))] + [rng.randint(1, 3)]
        return f"mlp d={','.join(map(str, widths))} r={rng.choice((1, 2, 2, 3, 4))}"
    l = rng.choices((1, 2, 3), (45, 40, 15))[0]

    def sometimes(chance: float) -> bool:
        return rng.random() < chance

    def per_layer(choices: tuple[int, ...]) -> list[int]:
        return [rng.choice(choices) for _ in range(l)] if sometimes(0.3) else [rng.choice(choices)] * l

    skip, rope = sometimes(0.35), sometimes(0.2)
    widths = rng.choices((1, 2, 3, 4), (8, 37, 35, 20), k=l + 1)
    widths = widths[:1] * (l + 1) if skip else widths
    words = [kind, "d=" + _join(widths), "a=" + _join(per_layer((2, 4) if rope else (1, 2, 3, 4)))]
    words.append(f"t={rng.choices((1, 2, 3, 4), (10, 40, 35, 15))[0]}")
    kv = per_layer((1, 1, 2, 3))
    grouped = [rng.choice((1, 1, 2)) for _ in range(l)]
    words += ["heads=" + _join([g * k for g, k in zip(grouped, kv, strict=True)]), "kv=" + _join(kv)]
    words += ["dv=" + _join(per_layer((1, 2, 3)))] * sometimes(0.35)
    words += ["skip"] * skip + ["rope"] * rope
    if sometimes(0.35):
        words += ["causal"] + [f"window={rng.randint(1, 3)}"] * sometimes(0.3)
    words += ["alibi"] * (kind == "softmax" and sometimes(0.15))
    letters = "qkvoud" if sometimes(0.3) else "qkvo"
    if letters == "qkvoud":
        act = rng.choices(("1", "2", "3", "silu", "gelu", "swiglu"), (1, 4, 2, 3, 3, 3))[0]
        words.append("ffn=" + _join([f"{h}:{act}" for h in per_layer((1, 2, 3, 4))]))
    bias = "".join(c for c in letters if sometimes(0.5)) if sometimes(0.3) else ""
    words += [f"bias={bias}"] * bool(bias)
    norms = ("rms", "layer") if widths[0] > 1 else ("rms",)  # LayerNorm of one coordinate reads nothing
    words += [f"norm={rng.choice(norms)}"] * (skip and sometimes(0.35))
    return " ".join(words)


def _join(values: list[int] | list[str]) -> str:
    return ",".join(map(str, values))
