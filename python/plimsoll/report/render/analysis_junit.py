"""Comparisons and what blocks them as JUnit XML, which CI servers show as tests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from plimsoll.report.gate import is_regression, reported
from plimsoll.report.render.run_junit import threshold_case, xml_text
from plimsoll.say.comparisons import RunLength, details, direction, headline, in_short, place, subject
from plimsoll.say.findings import said
from plimsoll.say.numbers import counted

if TYPE_CHECKING:
    from plimsoll.report.sources import OutputRequest, StudySource
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.findings.finding import Finding


def analysis_junit(source: StudySource, request: OutputRequest) -> str:
    """A test per threshold of the run, or of the newest one; per primary comparison (or per comparison, where no metric
    is primary); per other comparison with a certain difference; and per finding that blocks.

    What fails a build is a failure; what is unknown, because a check failed, is an error; what too few
    runs or requests leave open is skipped. A last test says whether there is any valid run. Names do not change from
    report to report.
    """
    analysis = source.analysis
    suite = ElementTree.Element("testsuite")
    names: Counter[str] = Counter()
    for result in source.thresholds:
        threshold_case(suite, result)
    for comparison in reported(analysis):
        _comparison(suite, analysis, comparison, names)
    for finding in analysis.findings:
        if finding.weight == "blocks":
            _finding(suite, finding, names)
    _runs(suite, analysis, names)
    counts = {
        "tests": str(len(suite)),
        "failures": str(len(suite.findall("*/failure"))),
        "errors": str(len(suite.findall("*/error"))),
    }
    name = xml_text(f"plimsoll {analysis.study.name}".strip())
    suite.attrib |= {"name": name, **counts, "skipped": str(len(suite.findall("*/skipped"))), "time": "0"}
    root = ElementTree.Element("testsuites", counts | {"time": "0"})
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _comparison(suite: ElementTree.Element, analysis: Analysis, comparison: Comparison, names: Counter[str]) -> None:
    case = _case(suite, "plimsoll.comparison", subject(comparison), names)
    text = "\n".join([headline(comparison), *details(comparison, RunLength.of(analysis.study, comparison))])
    if is_regression(comparison):
        message = f"{direction(comparison)}: {in_short(comparison)}"
        _child(case, "failure", message, "regression").text = xml_text(text)
    elif comparison.word == "invalid":
        _child(case, "error", in_short(comparison), "invalid").text = xml_text(text)
    elif comparison.word in ("one run", "no verdict"):
        # The schema of JUnit gives a skipped test a message, and no type.
        ElementTree.SubElement(case, "skipped", {"message": xml_text(in_short(comparison))})
        ElementTree.SubElement(case, "system-out").text = xml_text(text)
    else:
        ElementTree.SubElement(case, "system-out").text = xml_text(text)


def _finding(suite: ElementTree.Element, finding: Finding, names: Counter[str]) -> None:
    where = place(finding.where)
    case = _case(suite, "plimsoll.finding", f"{finding.id}{f': {where}' if where else ''}", names)
    words = said(finding)
    text = "\n".join(part for part in (words.statement, words.rule, words.advice) if part)
    _child(case, "error", words.statement, "invalid").text = xml_text(text)


def _runs(suite: ElementTree.Element, analysis: Analysis, names: Counter[str]) -> None:
    case = _case(suite, "plimsoll.validity", "run validity", names)
    trials = analysis.study.trials
    invalid = [f"{trial.id}: {'; '.join(trial.invalid)}" for trial in trials if trial.invalid]
    if len(invalid) == len(trials):
        _child(case, "error", "no run is valid" if trials else "there is no run", "invalid")
    summary = "\n".join([f"{len(trials) - len(invalid)} of {counted(len(trials), 'run')} valid", *invalid])
    ElementTree.SubElement(case, "system-out").text = xml_text(summary)


def _case(suite: ElementTree.Element, kind: str, name: str, names: Counter[str]) -> ElementTree.Element:
    """Two tests of one name would be taken for one."""
    names[name] += 1
    title = name if names[name] == 1 else f"{name} ({names[name]})"
    return ElementTree.SubElement(suite, "testcase", {"classname": kind, "name": xml_text(title), "time": "0"})


def _child(case: ElementTree.Element, tag: str, message: str, kind: str) -> ElementTree.Element:
    return ElementTree.SubElement(case, tag, {"message": xml_text(message), "type": kind})
