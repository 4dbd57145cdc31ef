"""The report as JUnit XML: a suite a file, a case a claim; `failure` where the claim was judged, `error` where it could not be."""

from __future__ import annotations

from xml.etree import ElementTree

from .report import Report, is_error
from .text import place, xml_safe


def junit_xml(report: Report) -> str:
    """The document. The `type` of a failure or error is the outcome: refuted, undecided, vacuous, not refuted; crashed, unsupported, ..."""
    root = ElementTree.Element("testsuites", name="neuromanifold check")
    totals = [0, 0, 0]
    for file in report.files:
        suite = ElementTree.SubElement(root, "testsuite", name=xml_safe(place(file.path)))
        counts, seconds = [0, 0, 0], 0.0
        for entry in file.entries:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                name=xml_safe(entry.name),
                classname=xml_safe(entry.path),
                time=f"{entry.seconds:.3f}",
            )
            if entry.line:
                case.set("line", str(entry.line))
            seconds += entry.seconds
            counts[0] += 1
            if entry.code:
                counts[2 if is_error(entry) else 1] += 1
                tag = "error" if is_error(entry) else "failure"
                verdict = ElementTree.SubElement(case, tag, type=entry.outcome, message=xml_safe(entry.headline))
                verdict.text = xml_safe("\n".join(entry.lines))
            elif entry.lines:
                ElementTree.SubElement(case, "system-out").text = xml_safe("\n".join(entry.lines))
        _count(suite, counts)
        suite.set("time", f"{seconds:.3f}")
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
    _count(root, totals)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _count(element: ElementTree.Element, counts: list[int]) -> None:
    for name, count in zip(("tests", "failures", "errors"), counts, strict=True):
        element.set(name, str(count))
    element.set("skipped", "0")
