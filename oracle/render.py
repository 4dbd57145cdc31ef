"""An answer as a page of text: the number, what is proven about it, what the label means, how to recheck."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from pathlib import Path

from .answer import Answer, Evidence
from .console import styled
from .family import FamilyAnswer

WIDTH = 88
COLOURS = {"proven": "green", "formula": "green", "numerical": "yellow", None: "red"}
MEANING = {
    "proven": "an exact lower and an exact upper bound meet, and a certificate implies both.",
    "formula": "a closed formula from a proved theorem whose every hypothesis was checked for this network.",
    "numerical": "an estimate; only the bounds are proven.",
    None: "no theorem applies and there is no estimate; only the bounds are proven.",
}


def render(answer: Answer, certificate: Path | None = None) -> str:
    """Return the text of an answer; `certificate` names the file that holds its certificate, if it was asked for."""
    lines = [styled(answer.spec, "bold"), ""]
    value = "unknown" if answer.dimension is None else str(answer.dimension)
    label = answer.label or "undecided"
    lines.append(_row("dimension", f"{styled(value, 'bold')}  {styled(label, COLOURS[answer.label])}"))
    lines.append(_row("proven", f"{answer.lower} <= dimension <= {answer.upper}{_gap(answer)}"))
    lines.append(_row("parameters", f"{answer.parameters}{_redundancy(answer)}"))
    basis, others = _basis(answer)
    lines += _table("because", [_reason(e, with_note=e in basis[-1:] and answer.label != "proven") for e in basis])
    lines += _list("agrees", [_named(e) for e in others if e.value == answer.dimension])
    lines += _list("but", [f"{_named(e)} says {e.value}" for e in others if e.value != answer.dimension])
    lines += _table("not used", [f"{_short(e)}: {e.note}" for e in answer.evidence if e.status == "unused"])
    lines += ["", *_wrapped("  ", f"{label}: {MEANING[answer.label]}")]
    lines += _recheck(answer, certificate)
    return "\n".join(line.rstrip() for line in lines)


def _row(name: str, text: str) -> str:
    return f"  {name:<12}{text}"


def _gap(answer: Answer) -> str:
    return f"  (a gap of {answer.gap})" if answer.gap else ""


def _redundancy(answer: Answer) -> str:
    if answer.dimension is None:
        return ""
    kinds: Counter[str] = Counter()
    for name, size in answer.redundancy:
        kinds[re.sub(r" \d+$", "", name)] += size  # "gauge 1", "gauge 2": the layers are for `explain`
    parts = ", ".join(f"{size} by {name}" for name, size in kinds.items() if size)
    total = answer.parameters - answer.dimension
    return f", of which {total} redundant" + (f": {parts}" if parts else "")


def _basis(answer: Answer) -> tuple[list[Evidence], list[Evidence]]:
    """Split the evidence into what the label rests on, strongest last, and what else names a value."""
    bounds = [e for e in answer.evidence if e.side != "value"]
    values = [e for e in answer.evidence if e.side == "value" and e.value is not None]
    if answer.label in ("proven", None):
        return bounds, values
    wanted = [e for e in values if e.value == answer.dimension and (answer.label != "formula" or e.status == "proved")]
    return bounds + wanted[:1], [e for e in values if e not in wanted[:1]]


def _reason(evidence: Evidence, with_note: bool) -> str:
    relation = {"lower": ">=", "upper": "<=", "value": "="}[evidence.side]
    source = _named(evidence) if evidence.side == "value" else evidence.source
    return f"{relation} {evidence.value}: {source}" + (f"; {evidence.note}" if with_note and evidence.note else "")


def _named(evidence: Evidence) -> str:
    return f"{_short(evidence)} ({evidence.status})"


def _short(evidence: Evidence) -> str:
    return evidence.source.split(" (")[0]  # without the citation, which `explain` and `theorems` give


def _table(name: str, texts: list[str]) -> list[str]:
    lines = []
    for i, text in enumerate(texts):
        first, *rest = textwrap.wrap(text, WIDTH - 14, break_on_hyphens=False) or [""]
        lines.append(_row(name if i == 0 else "", first))
        lines += [_row("", "  " + line) for line in rest]
    return lines


def _list(name: str, texts: list[str]) -> list[str]:
    return _table(name, [", ".join(texts)] if texts else [])


def _wrapped(indent: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")


def _recheck(answer: Answer, certificate: Path | None) -> list[str]:
    if answer.certificate is None:
        return [f'  more: neuromanifold explain "{answer.spec}"']
    if certificate is None:
        return ["  recheck: add --certificate FILE, then: neuromanifold verify FILE"]
    return [f"  recheck: neuromanifold verify {certificate}"]


def render_twin(twin: Answer) -> str:
    """Return what follows a checkpoint's answer: the answer of its structural twin."""
    head = "\n\n  The same structure, one layer at small sizes (groups, masks, biases, norms, activation as above):\n\n"
    return head + render(twin)


def render_family(answer: FamilyAnswer, certificate: Path | None = None) -> str:
    """Return the text of a family's answer."""
    lines = [styled(answer.spec, "bold"), ""]
    value, label = answer.dimension or "unknown", answer.label or "undecided"
    lines.append(_row("dimension", f"{styled(value, 'bold')}  {styled(label, COLOURS[answer.label])}"))
    if answer.label:
        lines.append(_row("for all", ", ".join(answer.conditions) or "sizes"))
        lines += ["", *_wrapped("  ", "proven: one certificate implies the dimension of every member with these sizes.")]
        where = f"{certificate}" if certificate else "FILE"
        lines.append(f"  recheck: {'add --certificate FILE, then: ' * (certificate is None)}neuromanifold verify {where}")
    else:
        lines += _list("because", [answer.reason])
        lines += ["", *_wrapped("  ", "undecided: no certificate is known for this family; ask for its members by numbers.")]
    return "\n".join(line.rstrip() for line in lines)
