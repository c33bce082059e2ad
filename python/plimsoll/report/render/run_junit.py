"""Thresholds and validity as JUnit XML, which CI servers show as tests."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from plimsoll.plain_text import printable
from plimsoll.say.validity import check_text, check_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.report.sources import Described, OutputRequest, RunSource
    from plimsoll.stats.thresholds.verdict import ThresholdResult
    from plimsoll.stats.validity import Validity

_FACTS = (
    "model", "users_kind", "users", "spawn_rate", "max_users", "run_time", "warmup", "processes", "seed", "host",
    "version", "kernel", "python",
)  # fmt: skip
"""What of a manifest becomes a property."""


_LINES = re.compile(r"([\t\n])")
"""What a text may have of what is not seen."""


def run_junit(source: RunSource, request: OutputRequest) -> str:
    return junit(source.assessment.thresholds, source.assessment.validity, source.run)


def junit(results: Sequence[ThresholdResult], validity: Validity, run: Described | None) -> str:
    """A suite with a test per threshold and one for the validity of the run. run: None for one that was not kept.

    A threshold that does not hold is a failure, an invalid run an error: the tests could not be made as they should.
    Names do not change from run to run, so a CI server finds the history of each.
    """
    suite = ElementTree.Element("testsuite", _suite(results, validity, run))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(run):
        ElementTree.SubElement(properties, "property", {"name": name, "value": xml_text(value)})
    for result in results:
        threshold_case(suite, result)
    _validity(suite, validity, _seconds(run))
    root = ElementTree.Element(
        "testsuites", {key: suite.attrib[key] for key in ("tests", "failures", "errors", "time")}
    )
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(results: Sequence[ThresholdResult], validity: Validity, run: Described | None) -> dict[str, str]:
    scenario = run.manifest.name if run else ""
    attributes = {
        "name": xml_text(f"plimsoll {scenario}".strip()),
        "tests": str(len(results) + 1),
        "failures": str(sum(result.outcome == "broken" for result in results)),
        "errors": str(int(not validity.valid)),
        "skipped": str(sum(result.outcome == "not shown" for result in results)),
        "time": _seconds(run),
    }
    if run:
        # Without a zone, as the schema has it: UTC.
        attributes["timestamp"] = datetime.fromtimestamp(run.started, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return attributes


def _properties(run: Described | None) -> Iterator[tuple[str, object]]:
    if run is None:
        return
    yield "run", run.id
    yield "status", run.status
    if run.experiment:
        yield "experiment", run.experiment
    for name in _FACTS:
        if (value := getattr(run.manifest, name)) not in (None, ""):
            yield name, value
    for note in run.notes:
        yield "note", note


def threshold_case(suite: ElementTree.Element, result: ThresholdResult) -> None:
    """Add its test to a suite."""
    attributes = {"classname": "plimsoll.threshold", "name": xml_text(result.text), "time": "0"}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    if result.passed:
        ElementTree.SubElement(case, "system-out").text = xml_text(result.detail)
    elif not result.shown:
        ElementTree.SubElement(case, "skipped", {"message": xml_text(result.detail)})
    else:
        failure = ElementTree.SubElement(case, "failure", {"message": xml_text(result.detail), "type": "threshold"})
        failure.text = xml_text(f"{result.text}\n{result.detail}")


def _validity(suite: ElementTree.Element, validity: Validity, seconds: str) -> None:
    """Bears the time of the whole run, so that the times of the tests add up to that of the suite."""
    attributes = {"classname": "plimsoll.validity", "name": "run validity", "time": seconds}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    if not validity.valid:
        reasons = check_texts(validity.failed)
        error = ElementTree.SubElement(case, "error", {"message": xml_text("; ".join(reasons)), "type": "invalid"})
        error.text = xml_text("\n".join(reasons))
    checks = "\n".join(f"{check.name}: {check.state}: {check_text(check)}" for check in validity.checks)
    ElementTree.SubElement(case, "system-out").text = xml_text(checks)


def _seconds(run: Described | None) -> str:
    return f"{run.ended - run.started:.3f}" if run and run.ended is not None else "0"


def xml_text(value: object) -> str:
    """The value with marks in place of characters that are not seen. XML 1.0 has no way to write most of them, not even
    escaped. The library that writes the XML escapes the others."""
    return "".join(part if part in "\t\n" else printable(part) for part in _LINES.split(str(value)))
