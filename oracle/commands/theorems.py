"""`neuromanifold theorems`: what the formulas rest on."""

from __future__ import annotations

from .. import console, exits


def theorems(id: str | None = None, /, *, json: bool = False) -> int:
    """List the theorems and the families certified for all sizes, or show one theorem: statement, hypotheses, citation, status.

    Parameters
    ----------
    id
        The theorem to show.
    json
        Print one JSON object.
    """
    from ..theorems import registry
    from ..theorems.families import CERTIFIED

    known = {theorem.id: theorem for theorem in registry()}
    if id is None:
        if json:
            quoted = [theorem.to_json() for theorem in known.values()]
            console.result_json({"schema": 1, "theorems": quoted, "families": [f.to_json() for f in CERTIFIED]})
        else:
            width = max(map(len, known))
            for theorem in known.values():
                console.result(f"{theorem.id:<{width}}  {theorem.status:<10}  {theorem.statement}")
            console.result("")
            width = max(len(f.spec) for f in CERTIFIED)
            for f in CERTIFIED:
                console.result(f"{f.spec:<{width}}  certified   {f.dimension}  ({f.stated})")
        return exits.HOLDS
    if id not in known:
        raise exits.unknown_name("theorem", id, known)
    if json:
        console.result_json({"schema": 1, **known[id].to_json()})
    else:
        console.result(known[id].describe().rstrip("\n"))
    return exits.HOLDS
