"""`neuromanifold symmetries`: what leaves the network's function as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import console, exits

if TYPE_CHECKING:
    from ...numerics.network import Network
    from ...verifiers.upper import UpperBound


def symmetries(spec: str, /, *, json: bool = False, seed: int = 0) -> int:
    """List the symmetries of a network: those of the catalogue with the dimensions they add, and linear fields outside of it.

    Of networks with more than 20000 parameters the entries are counted that symmetries can fix, where a coordinate certificate may apply.
    Fields outside the catalogue are found mod p at many random points; those that are proved for all parameters and inputs count
    in the bound as `found`, others are in no bound. In small networks quadratic fields are looked for, too; large ones are not searched.

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
    from ...verifiers.coordinates.certify import REPLAYED_PARAMETERS
    from ...verifiers.discovery import Discovery, discover
    from ...verifiers.upper import upper_bound, with_found
    from ..asking import check_limits

    check_limits(seed, None)
    network, ring = parse(spec), PrimeField(DEFAULT_PRIME)
    bound = upper_bound(network, seed, ring) if network.parameters <= REPLAYED_PARAMETERS else _by_chart(network)
    known, narrowed = bound.value, bound.narrowed
    search: Discovery | None = None
    try:
        search = discover(narrowed, seed)
        bound = with_found(network, bound, search.found, seed, ring)
        note = f"{search.solutions} fields in all, {len(search.found)} of them outside the catalogue"
    except UnsupportedNetwork as reason:
        note = f"not searched for more: {reason}"
    proved = [f.describe() for f in search.found] if search else []
    unproved = [f.describe() for f in search.unproved] if search else []
    if json:
        console.result_json({
            "schema": 1, "spec": str(network), "parameters": network.parameters, "upper": bound.value,
            "catalogue_upper": known, "symmetries": [list(r) for r in bound.redundancy], "searched": str(narrowed),
            "fields": search.solutions if search else None, "found": proved, "unproved": unproved,
        })  # fmt: skip
        return exits.HOLDS
    console.result(f"{network}: {network.parameters} parameters, dimension at most {bound.value}")
    for name, count in bound.redundancy:
        console.result(f"  {count:>4}  {name}")
    console.result(note + (f" (of {narrowed})" if narrowed != network else ""))
    if proved:
        console.result(f"proved for all parameters and inputs; the catalogue alone gives at most {known}:")
    for line in proved:
        console.result(f"  {line}")
    if unproved:
        console.result("candidates, not proved and in no bound:")
    for line in unproved:
        console.result(f"  {line}")
    return exits.HOLDS


def _by_chart(network: Network) -> UpperBound:
    """The bound of a network of any size that has a chart; raises `UnsupportedNetwork` where it has none."""
    from ...numerics.network import UnsupportedNetwork
    from ...verifiers.coordinates.certify import uncovered
    from ...verifiers.reductions import reduce
    from ...verifiers.upper import chart_bound

    if reason := uncovered(reduce(network)[1]):
        size = f"{network} has {network.parameters} parameters, too many to span its fields, and no chart is known: {reason}"
        raise UnsupportedNetwork("d", f"{size}; smaller sizes of the same structure have the same symmetries")
    return chart_bound(network)
