"""What Jenkins (its junit-10 schema) and GitLab read of a JUnit file."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from plimsoll.record.manifest import Manifest
from plimsoll.report.render.run_junit import junit
from plimsoll.say.validity import check_texts
from plimsoll.stats.thresholds.verdict import ThresholdResult
from plimsoll.stats.validity import Validity
from plimsoll.stats.validity.lateness import LagCheck
from plimsoll.stats.validity.load import ClockCheck, DroppedCheck, EndedCheck

MET = ThresholdResult("errors < 1%", True, 0.2, 1.0, "errors: 0.2%", "%")
MISSED = ThresholdResult("p99 of <b> & co < 200ms", False, 312.0, 200.0, 'p99 of "<b>": 312 ms, not < 200 ms', "ms")
VALID = Validity((LagCheck("ok", 0.2, requests=100), ClockCheck("unknown")))
INVALID = Validity((
    DroppedCheck("failed", 12), EndedCheck("failed", status="failed"),
))  # fmt: skip

# Attributes and children, in their order, that the schema of Jenkins allows; those marked * must be there.
SCHEMA = {
    "testsuites": ({"name", "time", "tests", "failures", "disabled", "errors"}, ["testsuite"]),
    "testsuite": (
        {"name*", "tests*", "failures", "errors", "time", "timestamp", "hostname", "skipped", "id", "package"},
        ["properties", "testcase", "system-out", "system-err"],
    ),
    "properties": (set(), ["property"]),
    "property": ({"name*", "value*"}, []),
    "testcase": (
        {"name*", "classname*", "time", "assertions", "status"},
        ["skipped", "error", "failure", "system-out", "system-err"],
    ),
    "failure": ({"message", "type"}, []),
    "error": ({"message", "type"}, []),
    "system-out": (set(), []),
}


def check(element: ElementTree.Element) -> None:
    attributes, order = SCHEMA[element.tag]
    assert set(element.attrib) <= {each.removesuffix("*") for each in attributes}
    assert set(element.attrib) >= {each.removesuffix("*") for each in attributes if each.endswith("*")}
    places = [order.index(child.tag) for child in element]
    assert places == sorted(places)
    for child in element:
        check(child)


def parsed(text: str) -> ElementTree.Element:
    root = ElementTree.fromstring(text.encode())
    check(root)
    return root


def test_a_test_per_threshold_and_one_for_the_validity(run):
    run.manifest = Manifest.from_json({**run.manifest.to_json(), "scenario": {"name": "locustfile.py"}})
    suite = parsed(junit([MET, MISSED], VALID, run))[0]
    counted = {
        key: suite.attrib[key] for key in ("name", "tests", "failures", "errors", "skipped", "time", "timestamp")
    }
    assert counted == {
        "name": "plimsoll locustfile.py", "tests": "3", "failures": "1", "errors": "0", "skipped": "0",
        "time": "4.000", "timestamp": "2026-11-20T12:00:00",
    }  # fmt: skip
    assert [(case.get("classname"), case.get("name"), case.get("time")) for case in suite.iter("testcase")] == [
        ("plimsoll.threshold", "errors < 1%", "0"),
        ("plimsoll.threshold", "p99 of <b> & co < 200ms", "0"),
        ("plimsoll.validity", "run validity", "4.000"),
    ]


def test_a_threshold_that_does_not_hold_is_a_failure_that_says_where(run):
    met, missed, valid = parsed(junit([MET, MISSED], VALID, run)).iter("testcase")
    assert [child.tag for child in met] == [child.tag for child in valid] == ["system-out"]
    assert met[0].text == "errors: 0.2%"
    assert missed[0].tag == "failure"
    assert missed[0].get("message") == 'p99 of "<b>": 312 ms, not < 200 ms'
    assert missed[0].text == 'p99 of <b> & co < 200ms\np99 of "<b>": 312 ms, not < 200 ms'


def test_an_invalid_run_is_an_error_with_every_reason(run):
    root = parsed(junit([MET], INVALID, run))
    assert (root.get("errors"), root.get("failures"), root[0].get("errors")) == ("1", "0", "1")
    *_, case = root.iter("testcase")
    assert [child.tag for child in case] == ["error", "system-out"]
    dropped, ended = check_texts(INVALID.checks)
    assert case[0].get("message") == f"{dropped}; {ended}"
    assert case[1].text == f"dropped: failed: {dropped}\nended: failed: {ended}"


def test_what_the_run_was_is_in_the_properties(run):
    run.notes.append("a worker was slow")
    run.experiment = "exp-1"
    run.manifest = Manifest.from_json({**run.manifest.to_json(), "seed": None})
    properties = [(each.get("name"), each.get("value")) for each in parsed(junit([], VALID, run)).iter("property")]
    assert properties == [
        ("run", "20261120-1200-7f3k"), ("status", "finished"), ("experiment", "exp-1"), ("users", "5"),
        ("host", "http://127.0.0.1:8000"), ("note", "a worker was slow"),
    ]  # fmt: skip


def test_a_run_that_was_not_kept_or_has_not_ended(run):
    suite = parsed(junit([MET], VALID, None))[0]
    assert (suite.get("name"), suite.get("time"), suite.get("timestamp"), suite.get("tests")) == (
        "plimsoll",
        "0",
        None,
        "2",
    )
    run.ended = None
    assert parsed(junit([MET], VALID, run))[0].get("time") == "0"


@pytest.mark.parametrize("bad", ["\x00", "\x1b", "\ufffe", "\ud800"])
def test_characters_that_xml_has_not_are_replaced(run, bad):
    result = ThresholdResult(f"p99 of /{bad}é\t😀 < 1s", False, None, 1000.0, f"/{bad} never occurred", "ms")
    (case, _) = parsed(junit([result], VALID, run)).iter("testcase")
    assert case.get("name") == "p99 of /\ufffdé\t😀 < 1s"
    assert case[0].get("message") == "/\ufffd never occurred"
