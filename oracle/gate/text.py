"""Text of unknown origin made safe for a terminal, XML, GitHub's workflow commands and Markdown; and results in words."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ..console import printable
from .verdict import Result

MAX_LINE = 2_000
MAX_CERTIFICATE = 1_200  # characters shown of a counterexample's certificate; JSON output has it whole


def plain(text: str) -> str:
    """One line without control characters: each becomes its escape, as in \\x1b, so no terminal or log obeys it."""
    return text if len(text) <= MAX_LINE and text.isprintable() else printable(text, limit=MAX_LINE)


def place(path: Path) -> str:
    """A path as shown: relative to the working directory where it lies below."""
    absolute = path.absolute()
    cwd = Path.cwd()
    return plain(str(absolute.relative_to(cwd) if absolute.is_relative_to(cwd) else path))


def headline(result: Result) -> str:
    """One line: what was found on how many instances, and against what expectation."""
    counts = ", ".join(f"{n} {outcome}" for outcome, n in result.counts.items())
    total = sum(result.counts.values())
    left = f", {result.left_out} left out by when" if result.left_out else ""
    found = (
        f"{result.outcome} ({total} instance{'s' if total != 1 else ''}: {counts}{left})" if total else result.outcome
    )
    if result.passed and result.claim.expect == "refuted":
        return f"refuted, as expected{found.removeprefix('refuted')}"
    if result.outcome == "holds" and not result.passed:
        return f"not refuted: {found}"
    return found


def details(result: Result) -> list[str]:
    """The lines under the headline: the smallest instance of the outcome, claim against certificate, how to reproduce it."""
    lines = [plain(result.message)] if result.message else []
    finding = result.shown
    if finding is not None and result.outcome != "holds":
        at = ", ".join(f"{k}={v}" for k, v in (finding.instance.values.items() if finding.instance else ()))
        if finding.instance and finding.instance.network:
            which = "smallest counterexample" if result.outcome == "refuted" else "smallest such network"
            lines.append(f"{which}: {finding.instance}{'   (' + plain(at) + ')' if at else ''}")
        lines.append(f"claimed:   {plain(finding.claimed)}")
        lines.append(f"found:     {plain(finding.certified)}")
        if finding.answer and finding.answer.certificate and result.outcome == "refuted":
            text = json.dumps(finding.answer.certificate, sort_keys=True)
            lines.append(
                f"certificate: {text if len(text) <= MAX_CERTIFICATE else text[:MAX_CERTIFICATE] + '... (whole with --format json)'}"
            )
        if finding.reproduce:
            lines.append(f"reproduce: {finding.reproduce}")
    if result.claim.source and not result.passed:
        lines.append(f"source:    {plain(result.claim.source)}")
    return lines


def xml_safe(text: str) -> str:
    """Text with everything that XML 1.0 cannot carry escaped (newlines and tabs stay)."""
    bad = r"[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    return re.sub(bad, lambda m: m[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def markdown(text: str) -> str:
    """Text that GitHub's Markdown shows literally: everything that could be markup, a mention or a link becomes an entity."""
    return re.sub(r"[^A-Za-z0-9 .,=+/()\-]", lambda m: f"&#{ord(m[0])};", plain(text))
