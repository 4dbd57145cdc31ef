"""`neuromanifold fiber`: the parameters that compute the same function, near one point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import console, exits

if TYPE_CHECKING:
    from ..queries.fiber import Fiber


def fiber(spec: str, file: str, /, *, json: bool = False, seed: int = 0) -> int:
    """Say the dimension of the fiber through a parameter point: generic or exceptional, and the directions along it.

    Exit 4 where the bounds of the dimension do not meet.

    Parameters
    ----------
    spec
        A network in one line: "lightning d=3,3 a=2 t=3".
    file
        Parameters by tensor name, .json (nested lists) or .npz.
    json
        Print one JSON object.
    seed
        Chooses the random inputs.
    """
    from ...numerics.notation import parse
    from ..asking import check_limits
    from ..parameters import read_parameters

    check_limits(seed, None)
    network = parse(spec)
    theta = read_parameters(file, network)
    from ..queries.fiber import fiber as ask

    found = ask(network, theta, seed=seed)
    if json:
        console.result_json(found.to_json())
    else:
        console.result(_text(found))
    return exits.HOLDS if found.dimension is not None else exits.UNDECIDED


def _text(found: Fiber) -> str:
    local = str(found.dimension) if found.dimension is not None else f"between {found.lower} and {found.upper}"
    rank = str(found.rank) if found.rank is not None else f"between {found.rank_lower} and {found.rank_upper}"
    low, high = found.generic_dimension
    lines = [
        found.spec,
        f"  fiber      local dimension {local} at this point, of {found.parameters} parameters",
        f"  position   {found.position}: rank {rank} at this point, dimension of the functions {low if low == high else f'{low} to {high}'}",
        f"  because    {found.reason}",
    ]
    lines += [f"  along      {n} by {name}" for name, n in found.directions]
    lines += [f"  free       {', '.join(found.free)} can take any values together"] if found.free else []
    lines += [f"  note       {note}" for note in found.notes]
    return "\n".join(lines)
