from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.record import OUTCOMES
from plimsoll.stats.thresholds.grammar import LONGEST, Threshold, parse_threshold


def of(threshold: Threshold) -> tuple[object, ...]:
    return str(threshold.subject), threshold.endpoint, threshold.op, threshold.limit, threshold.unit


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p99 < 200ms", ("p99", None, "<", 200.0, "ms")),
        ("p99.9<=1.5s", ("p99.9", None, "<=", 1500.0, "ms")),
        ("max < 2m", ("max", None, "<", 120_000.0, "ms")),
        ("min > 250us", ("min", None, ">", 0.25, "ms")),
        ("median > 250 µs", ("median", None, ">", 0.25, "ms")),
        ("service p50 < 1s", ("service p50", None, "<", 1000.0, "ms")),
        ("response avg >= 1s", ("avg", None, ">=", 1000.0, "ms")),
        ("errors < 0.1%", ("errors", None, "<", 0.1, "%")),
        ("failures = 0", ("failures", None, "==", 0.0, "")),
        ("timeout != 1e3", ("timeout", None, "!=", 1000.0, "")),
        ("success >= 99.9 %", ("success", None, ">=", 99.9, "%")),
        ("requests == 500", ("requests", None, "==", 500.0, "")),
        ("rps > .5", ("rps", None, ">", 0.5, "/s")),
        ("rps > 900/s", ("rps", None, ">", 900.0, "/s")),
        ("p99 of /todos/ < 1s", ("p99", "/todos/", "<", 1000.0, "ms")),
        ("p99 of GET /todos/<1s", ("p99", "GET /todos/", "<", 1000.0, "ms")),
        ('p99 of "GET /todos/" < 1s', ("p99", "GET /todos/", "<", 1000.0, "ms")),
        ("p99 of GET 'a < b over 5s' < 1s", ("p99", "GET a < b over 5s", "<", 1000.0, "ms")),
        ("p99 of GET /search?q=x < 1s", ("p99", "GET /search?q=x", "<", 1000.0, "ms")),
        ("  p99   of  GET  /a\t<\n1s ", ("p99", "GET /a", "<", 1000.0, "ms")),
    ],
)
def test_what_is_compared_with_what(text, expected):
    assert of(parse_threshold(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p99 < 1s", ("run", 0, False)),
        ("p99 < 1s, else stop", ("run", 0, True)),
        ("errors = 0 else stop", ("run", 0, True)),
        ("p99 < 1s over 10s", ("over", 10, False)),
        ("p99 < 1s for 2m, else stop", ("for", 120, True)),
        ("rps > 900 over 10 s , else stop", ("over", 10, True)),
        (f"rps > 900 over {LONGEST}s", ("over", LONGEST, False)),
    ],
)
def test_over_which_time(text, expected):
    threshold = parse_threshold(text)
    assert (threshold.mode, threshold.seconds, threshold.stop) == expected


def test_rows_of_streams_are_meant_only_if_they_are_named():
    rows = [("GET", "/a"), ("first event", "/a"), ("each event", "/a")]
    covered = {text: [parse_threshold(text).covers(*row) for row in rows] for text in (
        "p99 < 1s", 'p99 of "/a" < 1s', 'p99 of "first event /a" < 1s', "p99 of each event /a < 1s",
    )}  # fmt: skip
    assert list(covered.values()) == [
        [True, False, False], [True, False, False], [False, True, False], [False, False, True],
    ]  # fmt: skip


def test_quantiles_are_exact():
    percents = ["50", "99", "99.9", "99.99", "99.999", "100", "0.1"]
    found = [parse_threshold(f"p{each} < 1s").subject.q for each in percents]
    assert found == [0.5, 0.99, 0.999, 0.9999, 0.99999, 1.0, 0.001]
    assert parse_threshold("median < 1s").subject.q == 0.5


def test_errors_are_all_failures_and_an_outcome_is_itself():
    errors = parse_threshold("errors = 0").subject.outcomes
    assert errors == {"http", "connect", "tls", "timeout", "reset", "protocol", "assertion"}
    assert all(parse_threshold(f"{name} = 0").subject.outcomes == {name} for name in OUTCOMES)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("p99 < 3%", "3%", "us, ms, s or m"),
        ("p99 < 200", "200", "us, ms, s or m"),
        ("p99 < 1h", "1h", "us, ms, s or m"),
        ("errors < 5ms", "5ms", "a share in % or a count"),
        ("rps > 5%", "5%", "a plain number per second"),
        ("requests > 5/s", "5/s", "a plain number"),
        ("errors < 101%", "101%", "between 0% and 100%"),
        ("p101 < 1s", "p101", "at most 100"),
        ("p0 < 1s", "p0", "above 0"),
        ("tiemout = 0", "tiemout", "did you mean timeout?"),
        ("zzz = 0", "zzz", "begins with its subject"),
        ("< 1s", "<", "begins with its subject"),
        ("service errors < 1", "errors", "goes before a time"),
        ("service", " ", "begins with its subject"),
        ("p99", " ", "one of < <= >"),
        ("p99 => 1s", "=>", "one of < <= >"),
        ("p99 === 1s", "===", "one of < <= >"),
        ("p99 <", " ", "expected a time with its unit"),
        ("p99 < -1s", "-", "expected a time with its unit"),
        ("p99 of < 1s", "<", "an endpoint"),
        ('p99 of "" < 1s', '""', "an endpoint has a name"),
        ("p99 of /a=b<1s", "=b<", "quotes"),
        ("p99 of /a", " ", "one of < <= >"),
        ("p99 < 1s over", " ", "whole seconds or minutes"),
        ("p99 < 1s over 5", "5", "whole seconds or minutes"),
        ("p99 < 1s over 5h", "5h", "whole seconds or minutes"),
        ("p99 < 1s over 1.5s", "1.5s", "whole seconds"),
        ("p99 < 1s for 0s", "0s", f"1 to {LONGEST}"),
        ("p99 < 1s for 11m", "11m", f"1 to {LONGEST}"),
        ("p99 < 1s, else die", "die", "expected `stop`"),
        ("p99 < 1s, errors < 1", ", errors < 1", "one threshold at a time"),
        ("p99 < 1s sometimes", "sometimes", "expected"),
        ("rps > 900, else stop", ", else stop", "only an upper bound"),
        ("requests = 5, else stop", ", else stop", "only an upper bound"),
        ("errors != 0, else stop", ", else stop", "only an upper bound"),
    ],
)
def test_a_mistake_is_shown_at_its_place(text, place, said):
    with pytest.raises(UsageError) as caught:
        parse_threshold(text)
    what, shown, carets = str(caught.value).splitlines()
    assert said in what
    assert shown == f"  {text}"
    start = carets.index("^")
    assert set(carets[start:]) == {"^"}
    assert f"{shown} "[start : len(carets)] == place


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_nothing_is_no_threshold(text):
    with pytest.raises(UsageError, match="begins with its subject"):
        parse_threshold(text)


@given(st.text(alphabet="p9 of<>=ms%,\"'/aelsbotr0.1"))
def test_any_text_is_read_or_refused(text):
    try:
        threshold = parse_threshold(text)
    except UsageError as error:
        assert "^" in str(error)
    else:
        assert parse_threshold(threshold.text) == threshold


@pytest.mark.parametrize(
    ("op", "below", "equal", "above"),
    [
        ("<", True, False, False),
        ("<=", True, True, False),
        (">", False, False, True),
        (">=", False, True, True),
        ("=", False, True, False),
        ("!=", True, False, True),
    ],
)
def test_when_it_holds(op, below, equal, above):
    threshold = parse_threshold(f"p99 {op} 10ms")
    assert [threshold.holds(value) for value in (9.9, 10.0, 10.1)] == [below, equal, above]


@given(st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), st.integers(0, 20), st.lists(st.integers(0, 20), min_size=1))
def test_a_value_known_to_be_at_least_something_holds_only_if_every_greater_one_does(op, least, more):
    threshold = parse_threshold(f"p99 {op} 10ms")
    if threshold.holds(least, at_least=True):
        assert all(threshold.holds(least + each) for each in more)
    elif threshold.holds(least):
        assert not all(threshold.holds(least + each) for each in range(40))
