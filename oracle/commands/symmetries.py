"""`neuromanifold symmetries`: what leaves the network's function as it is."""

from __future__ import annotations

from .. import console, exits


def symmetries(spec: str, /, *, json: bool = False, seed: int = 0) -> int:
    """List the symmetries of a network: those of the catalogue with the dimensions they add, and linear fields outside of it.

    Fields found outside the catalogue are solutions mod p at many random points: candidates, not proved and in no bound.
    Larger networks than a few dozen parameters are not searched.

    Parameters
    ----------
    spec
        A network in one line: "lightning d=3,3 a=2 t=3".
    json
        Print one JSON object.
    seed
        Chooses the random points.
    """
    from ...numerics.network import UnsupportedNetwork
    from ...numerics.notation import parse
    from ...numerics.rings import DEFAULT_PRIME, PrimeField
    from ...verifiers.discovery import discover
    from ...verifiers.upper import upper_bound
    from ..asking import check_limits

    check_limits(seed, None)
    network = parse(spec)
    bound = upper_bound(network, seed, PrimeField(DEFAULT_PRIME))
    searched: int | None = None
    candidates: list[str] = []
    try:
        searched, found = discover(network, seed)
        candidates = [c.describe() for c in found]
        note = f"{searched} linear fields in all, {len(candidates)} of them outside the catalogue (candidates, not proved)"
    except UnsupportedNetwork as reason:
        note = f"not searched for more: {reason}"
    if json:
        console.result_json({
            "schema": 1, "spec": str(network), "parameters": network.parameters, "upper": bound.value,
            "symmetries": [list(r) for r in bound.redundancy], "linear_fields": searched, "candidates": candidates,
        })  # fmt: skip
        return exits.HOLDS
    console.result(f"{network}: {network.parameters} parameters, dimension at most {bound.value}")
    for name, count in bound.redundancy:
        console.result(f"  {count:>4}  {name}")
    console.result(note)
    for line in candidates:
        console.result(f"  {line}")
    return exits.HOLDS
