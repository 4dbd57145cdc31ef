"""`neuromanifold singular`: is the function of a parameter point a singular point of the closure?"""

from __future__ import annotations

from .. import console, exits


def singular(spec: str, file: str, /, *, json: bool = False, seed: int = 0) -> int:
    """Say whether a parameter point's function is a singular point of the Zariski closure of the network's functions.

    Exit 0 for singular and for a regular parametrisation, 4 where it is undecided.

    Parameters
    ----------
    spec
        A network in one line: "lightning d=3,3 a=2 t=3".
    file
        Parameters by tensor name, .json (nested lists) or .npz.
    json
        Print one JSON object.
    seed
        Chooses the random inputs and the random points of the fiber.
    """
    from ...numerics.notation import parse
    from ..asking import check_limits
    from ..parameters import read_parameters

    check_limits(seed, None)
    network = parse(spec)
    theta = read_parameters(file, network)
    from ..queries.singular import singular as ask

    found = ask(network, theta, seed=seed)
    if json:
        console.result_json(found.to_json())
    else:
        (low, high), (least, most) = found.rank, found.dimension
        rank = str(low) if low == high else f"between {low} and {high}"
        dimension = str(least) if least == most else f"between {least} and {most}"
        console.result(f"{found.spec}\n  {found.verdict}: {found.reason}\n  rank {rank} at this point, dimension {dimension}")
    return exits.UNDECIDED if found.verdict == "undecided" else exits.HOLDS
