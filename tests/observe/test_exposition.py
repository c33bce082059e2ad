from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as some

from plimsoll.observe.exposition import labels_of, name_of, samples, too_long, types, unit_of

PAGE = r"""
# HELP http_requests_total All of them, {even} these.
# TYPE http_requests_total counter
http_requests_total{method="get",code="200"} 1027 1395066363000
http_requests_total{ method = "post" , code = "400" }    3
# a comment
escaped{path="C:\\DIR\\{x} ",error="no \"file\"\n"} 1.458255915e9
without_labels 12.47
weird{problem="division by zero"} +Inf -3982045
nothing{} NaN
	tabbed	7
latency_bucket{le="0.05"} 24054 # {trace_id="a b"} 0.043 1520879607.789
not a metric
5digits 1
broken{a="b" 3
text abc
# EOF
"""


def test_names_labels_and_values_are_found() -> None:
    found = dict(samples(PAGE))
    assert found.pop("nothing{}") != 0
    assert found == {
        'http_requests_total{method="get",code="200"}': 1027.0,
        'http_requests_total{ method = "post" , code = "400" }': 3.0,
        r'escaped{path="C:\\DIR\\{x} ",error="no \"file\"\n"}': 1458255915.0,
        "without_labels": 12.47,
        'weird{problem="division by zero"}': math.inf,
        "tabbed": 7.0,
        'latency_bucket{le="0.05"}': 24054.0,
    }
    assert types(PAGE) == {"http_requests_total": "counter"}


def test_labels_are_unescaped() -> None:
    line = r'escaped{path="C:\\DIR\\{x} ",error="no \"file\"\n"}'
    assert name_of(line) == "escaped"
    assert labels_of(line) == {"path": "C:\\DIR\\{x} ", "error": 'no "file"\n'}
    assert (name_of("plain"), labels_of("plain")) == ("plain", {})


def test_units_are_those_of_names() -> None:
    assert [unit_of(each) for each in ("a_seconds", "b_bytes_total", "requests_total", "up")] == ["s", "bytes", "", ""]


@given(
    some.lists(
        some.tuples(
            some.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,20}", fullmatch=True),
            some.dictionaries(some.from_regex(r"[a-z]{1,5}", fullmatch=True), some.text(max_size=20), max_size=3),
            some.floats(allow_nan=False),
        ),
        max_size=10,
    )
)
def test_it_reads_what_the_client_library_writes(metrics: list[tuple[str, dict[str, str], float]]) -> None:
    """As prometheus_client escapes: backslash, quote and newline."""

    def escaped(text: str) -> str:
        return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")

    lines = []
    for name, labels, value in metrics:
        inner = ",".join(f'{key}="{escaped(text)}"' for key, text in labels.items())
        lines.append(f"{name}{{{inner}}} {value!r}")
    found = [(name_of(series), labels_of(series), value) for series, value in samples("\n".join(lines))]
    assert found == metrics


@pytest.mark.parametrize("text", ["{" * 100_000, 'a{b="' * 50_000, 'a{b="\\' + "\\" * 200_000, "a " * 300_000])
def test_damaged_text_takes_no_time(text: str) -> None:
    """A pattern that goes back would take minutes; the test's own limit of time would end it."""
    assert list(samples(text)) == []


@pytest.mark.parametrize(
    "line", ["a" * 1000 + " " * 300_000 + "{", "# TYPE a" + " " * 300_000 + "b c", 'a{b="' + "c" * 300_000 + '"} 1']
)
def test_long_lines_are_left_out_and_take_no_time(line: str) -> None:
    """Sixteen of them are a page of 5 MB; each takes a third of a second if a pattern reads it."""
    page = f"{line}\n" * 16 + "a 1\n# TYPE a gauge\n"
    before = time.thread_time()
    assert (list(samples(page)), types(page)) == ([("a", 1.0)], {"a": "gauge"})
    assert too_long(page) == (0 if line.startswith("#") else 16)
    assert time.thread_time() - before < 1.0
