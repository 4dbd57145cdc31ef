"""An answer told as a short proof: bounds, fields with their dimension, the point, the side conditions, how to recheck."""

from __future__ import annotations

from typing import Any

from ..numerics.network import Network
from ..numerics.notation import parse
from .answer import Answer

MAX_BLOCKS = 12  # that are shown


def explain(asked: str | Network | Answer, *, seed: int = 0, timeout: float | None = None) -> str:
    """The reasons for an answer (asked for now, or given) as plain text, in the order of a proof.

    Nothing here is more than the answer's evidence and certificate say; what is trusted is in `verifiers/PROOFS.md`.
    """
    if not isinstance(asked, Answer):
        from .dimension import dimension

        asked = dimension(asked, seed=seed, timeout=timeout)
    network = parse(asked.spec)
    lines = [_headline(asked), "", *_setting(network, asked)]
    if asked.certificate:
        lines += ["", *_upper(network, asked), "", *_lower(asked)]
    lines += ["", *_others(asked), *_recheck(asked)]
    return "\n".join(lines).rstrip() + "\n"


def _headline(answer: Answer) -> str:
    if answer.dimension is None:
        return f"{answer.spec}: {answer.lower} <= dimension <= {answer.upper}; no estimate."
    if answer.label == "proven":
        return f"{answer.spec}: the dimension is {answer.dimension}, proven."
    known = f"what is proven is {answer.lower} <= dimension <= {answer.upper}"
    return f"{answer.spec}: the dimension is {answer.dimension} ({answer.label}); {known}."


def _setting(network: Network, asked: Answer) -> list[str]:
    shape = f"{network.d[0]} x {network.t}"
    from ..verifiers.cost import direct, predict

    below = (asked.certificate or {}).get("lower") or {}
    cost = direct(network) if below.get("rule") == "minor" else predict(network)
    return [
        f"Setting. theta has {network.parameters} parameters, X is a {shape} matrix; the dimension is the largest rank, over theta,",
        "of the differential of theta -> (X -> f_theta(X)).",
        f"Predicted on one core: a proof takes {cost.seconds:.2g} s and {cost.memory / 2**30:.2g} GiB, its independent replay {cost.replay_seconds:.2g} s.",
    ]


def _upper(network: Network, answer: Answer) -> list[str]:
    from ..verifiers.symmetries.found import Found
    from ..verifiers.upper import symmetries

    upper: dict[str, Any] = (answer.certificate or {})["upper"]
    lines = [f"At most {answer.upper}."]
    for step in upper.get("reductions", []):
        lines.append(f"  Rewrite {step['rule']}: layer {step['layer']} to size {step['size']}; the functions stay the same or become more.")
    reduced = parse(upper["spec"])
    if upper["rule"] == "fields":
        lines.append(f"  {reduced} has {reduced.parameters} parameters; along each of these fields the function does not change:")
        listed = [dict(e) for e in upper["fields"]]
        shown: dict[str, str] = {}
        for field in symmetries(reduced, upper.get("frozen", [])):
            if field.to_json() in listed:
                shown.setdefault(_place(field.to_json()), field.describe())
        found = [Found.from_json(reduced, e) for e in listed if e["field"] == "found"]
        shown |= {f"found {k}": field.describe() for k, field in enumerate(found, 1)}
        width = max(map(len, shown), default=0)
        lines += [f"    {place:<{width}}  {motion}" for place, motion in shown.items()]
        lines.append(f"  At the point of the certificate they span {reduced.parameters - answer.upper} dimensions mod p, hence at least as many generically:")
        lines.append(f"  {reduced.parameters} - {reduced.parameters - answer.upper} = {answer.upper}.")
    elif upper["rule"] == "chart":
        from ..verifiers.coordinates.certify import chart_redundancy

        fixed = sorted(chart_redundancy(reduced), key=lambda f: -f[1])
        lines.append(f"  {reduced} has {reduced.parameters} parameters; its symmetries can be used to fix some, and the functions stay dense:")
        lines += [f"    {count:>{len(str(fixed[0][1]))}}  {name}" for name, count in fixed]
        lines.append(f"  {reduced.parameters} - {reduced.parameters - answer.upper} = {answer.upper} entries stay free.")
    else:
        lines.append(f"  {upper['rule']}: the functions of {reduced} lie in a space of {answer.upper} dimensions.")
    return lines


def _place(entry: dict[str, Any]) -> str:
    index = ", ".join(f"{k} {v}" for k, v in entry.items() if k != "field")
    return f"{entry['field']} ({index})"


def _lower(answer: Answer) -> list[str]:
    certificate: dict[str, Any] = answer.certificate or {}
    lower = certificate["lower"]
    if lower is None:
        return ["At least 0: no lower bound was proven."]
    p, seed = certificate["prime"], certificate["seed"]
    lines = [f"At least {answer.lower}."]
    if lower["rule"] == "coordinates":
        lines += _blocks(certificate)
        return lines + _sides(certificate)
    lines += [
        f"  At the point that seed {seed} expands to mod p = {p}, with inputs {lower['inputs']},",
        f"  the {answer.lower} x {answer.lower} minor of the Jacobian in rows {_short(lower['rows'])} and columns {_short(lower['columns'])}",
        "  is not 0 mod p. So it is not 0 as a polynomial, and the generic rank over Q is at least its size.",
    ]
    return lines + _sides(certificate)


def _blocks(certificate: dict[str, Any]) -> list[str]:
    """The point at which the Jacobian is block triangular, and its blocks."""
    from ..verifiers.coordinates.certify import blocks_of

    lower, seed, p = certificate["lower"], certificate["seed"], certificate["prime"]
    found = blocks_of(parse(certificate["upper"]["spec"]), lower)
    base = f", besides a base of {lower['base']}" if lower["base"] else ""
    lines = [
        "  At a coordinate point each row of a head is tied to a coordinate of the stream, and entries that join different ones are 0.",
        f"  There the Jacobian is block triangular, with a block for each set of at most two coordinates (with rope: planes){base}.",
    ]
    if "layers" in lower:
        lines.append("  Each layer is looked at alone: a zero token that all others see can switch the other layers off.")
        lines += ["  Of its hidden units one for each coordinate is: the others can be switched off, too."] * ("ffn=" in certificate["upper"]["spec"])
    lines.append("  Sets of one type have the same block.")
    tokens = lower["tokens"] - ("layers" in lower)  # without the zero token
    lines.append(f"  With {tokens} token{'s' * (tokens > 1)}, seed {seed} and p = {p} these {len(found)} have full column rank mod p:")
    width = max(len(label) for label, _ in found)
    lines += [f"    {label:<{width}}  rank {columns} of {columns} columns" for label, columns in found[:MAX_BLOCKS]]
    lines += [f"    ... and {len(found) - MAX_BLOCKS} more"] if len(found) > MAX_BLOCKS else []
    lines.append("  Every free entry belongs to one block, so the generic rank over Q is at least their number (verifiers/coordinates/PROOFS.md).")
    return lines


def _sides(certificate: dict[str, Any]) -> list[str]:
    """The side conditions of a lower bound."""
    lines = []
    if "exponents" in certificate:
        draws = certificate["exponents"]
        lines += [
            "  Exponentials count as free units there. Allowed, because no integer combination of the exponents of one input is a",
            f"  function of theta alone: their differences at draws {_short(str(draws.get('draws', draws)))} have full column rank mod p (Ax 1971, Theorem 3).",
        ]
    if "radicands" in certificate:
        lines.append("  The roots of the norms generate a domain: each radicand is a non-square over the earlier ones, with a witness.")
    return lines


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _others(answer: Answer) -> list[str]:
    shown = []
    for e in answer.evidence:
        if e.kind == "certificate" and e.status == "proven":
            continue
        value = "" if e.value is None else f" says {e.value}"
        note = f": {e.note}" if e.note else ""
        shown.append(f"  {e.source}{value} ({e.status}){note}")
    return ["Also looked at:", *shown, ""] if shown else []


def _recheck(answer: Answer) -> list[str]:
    if not answer.certificate:
        return ["Nothing to replay: no certificate was made."]
    ask = f'neuromanifold dimension "{answer.spec}" --certificate answer.json'
    return [
        "Recheck without trusting this program:",
        f"  {ask}",
        "  python -I -S verifiers/replay.py answer.json        (one file, standard library only, its own forward pass)",
    ]
