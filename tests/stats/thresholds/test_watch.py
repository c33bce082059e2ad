from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.memory import count_reachable

from plimsoll.record import TIMES_OF
from plimsoll.say.thresholds import threshold_result
from plimsoll.stats.latency.patience import Patience
from plimsoll.stats.thresholds.grammar import parse_threshold
from plimsoll.stats.thresholds.verdict import ThresholdResult
from plimsoll.stats.thresholds.watch import LATE, SETTLED, ThresholdWatch
from plimsoll.stats.totals import Totals
from plimsoll.stats.view import RunView


def results(watch, duration):
    return [threshold_result(verdict) for verdict in watch.finish(duration)]


@pytest.fixture
def judged(make_interval):
    """The results of thresholds for seconds of (outcome, times in ms), all at one endpoint."""

    def judge(texts, seconds, *, warmup=0.0, duration=None):
        watch = ThresholdWatch([parse_threshold(text) for text in texts], warmup)
        for second, cells in enumerate(seconds):
            watch.add([make_interval(times, second=second, outcome=outcome) for outcome, times in cells], second)
        return results(watch, len(seconds) - math.ceil(warmup) if duration is None else duration)

    return judge


def ok(*times):
    return [("success", list(times))]


def test_subjects_of_a_whole_run(judged):
    seconds = [[("success", [10.0] * 8), ("http", [20.0])], [("timeout", [100.0]), ("connect", [0.1])]]
    texts = {
        "p50 < 1s": 10.0, "p90 < 1s": 20.0, "max < 1s": 100.0, "min < 1s": 10.0, "avg < 1s": 20.0, "mean < 1s": 20.0,
        "med < 1s": 10.0, "requests > 0": 11, "rps > 0": 5.5, "errors < 50": 3, "errors < 50%": 300 / 11,
        "http = 1": 1, "connect <= 50%": 100 / 11, "success > 70%": 800 / 11, "service p50 < 1s": 10.0,
    }  # fmt: skip
    results = judged(list(texts), seconds)
    assert [result.text for result in results] == list(texts)
    assert [result.value for result in results] == pytest.approx(list(texts.values()), rel=1e-3)
    units = [result.unit for result in results]
    assert units == ["ms"] * 7 + ["", "/s", "", "%", "", "%", "%", "ms"]
    passed = {result.text: result.passed for result in results}
    assert passed == dict.fromkeys(texts, True) | {"max < 1s": False, "avg < 1s": False, "mean < 1s": False}


def test_service_is_not_response(make_interval):
    interval = make_interval([10.0, 10.0])
    interval.response = make_interval([500.0, 500.0]).response
    interval.response_sum, interval.response_min, interval.response_max = 1_000_000_000, 500_000_000, 500_000_000
    watch = ThresholdWatch([parse_threshold(text) for text in ("p50 < 100ms", "service p50 < 100ms")])
    watch.add([interval], 0)
    response, service = results(watch, 1.0)
    assert (response.value, service.passed, service.share) == (500.0, True, 0.0)
    assert service.value == pytest.approx(10.0, rel=1e-3)
    assert service.detail == "service p50: 10.01 ms"


@pytest.mark.parametrize(
    ("text", "passed", "within"),
    [
        ("p50 < 600ms", True, False),
        ("p50 < 100ms", False, True),
        ("p50 < 5ms", False, False),
        ("p50 > 100ms", False, True),
        ("p50 > 5ms", True, False),
        ("p50 > 600ms", False, False),
        ("mean <= 100ms over 1s", False, True),
        ("max < 100ms", False, True),
        ("p50 == 100ms", False, False),
    ],
)
def test_a_limit_within_the_generators_share_is_not_shown_to_hold_nor_to_break(make_interval, text, passed, within):
    """Sent 490 ms late, and answered in 10 ms."""
    interval = make_interval([10.0, 10.0])
    interval.response = make_interval([500.0, 500.0]).response
    interval.response_sum, interval.response_min, interval.response_max = 1_000_000_000, 500_000_000, 500_000_000
    watch = ThresholdWatch([parse_threshold(text)])
    watch.add([interval], 0)
    (result,) = results(watch, 1.0)
    assert (result.passed, result.within_share) == (passed, within)
    assert result.share == pytest.approx(490, rel=1e-2)
    assert result.outcome == ("not shown" if within else "passed" if passed else "broken")
    assert result.detail.endswith(", nor to break it") == within
    assert ThresholdResult.from_dict(result.to_dict() | {"passed": True, "shown": True}) == result or not within
    if text == "p50 < 100ms":
        assert result.detail == (
            "p50: 500 ms, up to 490.2 ms of it the generator's: not shown to be < 100 ms, nor to break it"
        )


def test_it_says_the_value_the_limit_and_where(judged):
    seconds = [ok(10.0)] * 20
    seconds[12] = ok(312.0)
    whole, over, lasting, lower = judged(
        ["max < 200ms", "max < 200ms over 5s", "max < 200ms for 2s", "rps >= 1 over 5s"], seconds
    )
    assert (whole.passed, whole.value, whole.limit, whole.detail) == (False, 312.0, 200.0, "max: 312 ms, not < 200 ms")
    assert (over.passed, over.value, over.detail) == (False, 312.0, "max: 312 ms from 8 s to 13 s, not < 200 ms")
    assert (lasting.passed, lasting.value) == (True, 312.0)
    assert lasting.detail == "max: 312 ms at worst, in second 12; at most 1 violated in a row"
    assert (lower.passed, lower.value, lower.detail) == (True, 1.0, "rps: 1/s at worst, from 0 s to 5 s")


def test_the_worst_window_of_those_that_held(judged):
    seconds = [ok(*[10.0] * count) for count in (5, 5, 9, 3, 4, 8)]
    upper, lower = judged(["requests < 99 over 2s", "requests > 1 over 2s"], seconds)
    assert (upper.value, upper.detail) == (14, "requests: 14 at worst, from 1 s to 3 s")
    assert (lower.value, lower.detail) == (7, "requests: 7 at worst, from 3 s to 5 s")


def test_for_needs_every_second_in_a_row(judged):
    slow, fast = ok(300.0), ok(10.0)
    ((broken,), (held,)) = (
        judged(["p99 < 200ms for 3s"], seconds)
        for seconds in ([fast, slow, slow, slow, fast, slow], [slow, slow, fast, slow, slow, fast])
    )
    assert (broken.passed, broken.detail) == (
        False, "p99: 300 ms in second 3, the last of 3 in a row, not < 200 ms",
    )  # fmt: skip
    assert (held.passed, held.detail) == (True, "p99: 300 ms at worst, in second 0; at most 2 violated in a row")


def test_nothing_measured_is_not_a_pass(judged):
    texts = ["p99 < 1s", "errors = 0", "requests < 5", "dropped = 0", "p99 < 1s over 2s"]
    for result in judged(texts, [[], [], []]):
        assert (result.passed, result.value, result.detail) == (False, None, "no requests were measured")


def test_the_share_of_what_was_cut_off_or_never_sent(make_interval):
    watch = ThresholdWatch([parse_threshold(text) for text in ("unanswered <= 25%", "dropped = 1", "errors = 0")])
    apart = [make_interval(untimed=count, outcome=name) for name, count in (("unanswered", 2), ("dropped", 1))]
    watch.add([make_interval([1.0] * 6), *apart], 0)
    assert [(result.value, result.passed) for result in results(watch, 1.0)] == [(25.0, True), (1, True), (0, True)]
    watch = ThresholdWatch([parse_threshold("unanswered < 50%")])
    watch.add(apart[:1], 0)
    assert results(watch, 1.0)[0].value == 100.0


def test_a_window_without_samples_fails(judged):
    seconds = [ok(1.0), ok(1.0), [], [], ok(1.0)]
    time, share, rate, both = judged(
        ["p99 < 1s over 2s", "errors < 1% over 2s", "rps < 9 over 2s", "p99 < 1s over 3s"], seconds
    )
    assert (time.passed, time.value, time.detail) == (False, None, "p99: no answers from 2 s to 4 s")
    assert (share.passed, share.detail) == (False, "errors: no requests from 2 s to 4 s")
    assert (rate.passed, both.passed) == (True, True)


def test_refusals_are_no_answers(judged):
    (result,) = judged(["p99 < 1s"], [[("connect", [0.1] * 5)]])
    assert (result.passed, result.value, result.detail) == (False, None, "p99: no answers")


@pytest.mark.parametrize(
    ("text", "passed", "value", "detail"),
    [
        ("p99 < 200ms", False, 200.0, "p99: ≥200 ms, not < 200 ms"),
        ("p99 < 150ms", False, 200.0, "p99: ≥200 ms, not < 150 ms"),
        (
            "p99 < 1s",
            False,
            200.0,
            "p99: ≥200 ms: not shown to be < 1000 ms, because requests were given up on, and it may be more",
        ),
        ("p99 > 100ms", True, 200.0, "p99: ≥200 ms"),
        ("p50 < 200ms", True, 10.0, "p50: 10.01 ms"),
    ],
)
def test_a_timeout_is_at_least_its_limit(judged, text, passed, value, detail):
    (result,) = judged([text], [[("success", [10.0] * 9), ("timeout", [200.0])]])
    assert (result.passed, result.detail) == (passed, detail)
    assert result.value == pytest.approx(value, rel=1e-3)
    assert result.at_least == ("p99" in text)


def test_an_endpoint_is_meant_by_method_and_name_or_by_name(make_interval):
    texts = ["requests of GET /a = 1", "requests of /a = 3", 'requests of "GET  /b" = 5', "requests = 8"]
    watch = ThresholdWatch([parse_threshold(text) for text in texts])
    watch.add(
        [
            make_interval([1.0], name="/a"),
            make_interval([1.0] * 2, name="/a", method="POST"),
            make_interval([1.0] * 5, name="/b"),
        ],
        0,
    )
    assert [(result.value, result.passed) for result in results(watch, 1.0)] == [
        (1, True),
        (3, True),
        (5, True),
        (8, True),
    ]


def test_an_endpoint_that_never_occurred(make_interval):
    texts = ["errors of GET /todo = 0", "requests of /nothing < 5", "p99 of /early < 1s over 1s"]
    watch = ThresholdWatch([parse_threshold(text) for text in texts], warmup=0.5)
    names = ("/todos/", "/users/")
    watch.add([make_interval([1.0], second=1, name=name) for name in names], 1)
    watch.add([make_interval([1.0], second=0, name="/early")], 1)
    near, far, early = results(watch, 1.0)
    assert not (near.passed or far.passed or early.passed)
    assert near.detail == "GET /todo never occurred; the nearest that did is GET /todos/"
    assert far.detail.startswith("/nothing never occurred; the nearest that did is GET /")
    assert early.detail == "/early did not occur after the warm-up"


def test_the_warmup_is_left_out(judged):
    seconds = [ok(900.0), ok(900.0), ok(10.0), ok(10.0)]
    texts = ["max < 200ms", "max < 200ms over 2s", "max < 200ms for 1s", "requests = 2", "rps = 1"]
    assert [result.passed for result in judged(texts, seconds, warmup=1.2)] == [True] * 5
    assert [result.passed for result in judged(texts[:4], seconds, warmup=1.0)] == [False] * 4


def test_a_run_too_short_for_a_window(judged):
    for result in judged(["p99 < 1s over 10s", "p99 < 1s for 10s"], [ok(1.0)] * 7):
        assert (result.passed, result.value) == (False, None)
        assert result.detail == "7 s were measured, too few for a window of 10 s"


def watch_of(*texts, warmup=0.0):
    return ThresholdWatch([parse_threshold(text) for text in texts], warmup)


def test_a_bound_on_the_whole_run_may_end_it_once_that_is_settled(make_interval):
    watch = watch_of("p99 < 1s", "errors < 10%, else stop", warmup=2.0)
    for second in range(2 + SETTLED - 1):
        watch.add([make_interval([1.0], second=second, outcome="http")], second)
        assert watch.broken() is None
    watch.add([], 2 + SETTLED - 1)
    assert str(watch.broken()) == "errors < 10%, else stop"
    # What comes while the run ends does not undo that it was ended.
    watch.add([make_interval([1.0] * 1000, second=8)], 8)
    met, stopped = results(watch, 7.0)
    assert (met.passed, stopped.passed, stopped.value) == (True, False, 100.0)
    assert stopped.detail == "errors: 100% after 7 s, which ended the run, not < 10%"


def test_a_run_goes_on_without_samples_or_without_else_stop(make_interval):
    watch = watch_of("p99 of /slow < 1s, else stop", "errors = 0", "errors = 0 over 1s")
    for second in range(20):
        watch.add([make_interval([1.0], second=second, outcome="http")], second)
    assert watch.broken() is None
    assert [result.passed for result in results(watch, 20.0)] == [False, False, False]


def test_windows_may_end_a_run_as_soon_as_one_fails(make_interval):
    watch = watch_of("rps > 2 over 3s, else stop", "errors = 0 for 2s, else stop")
    ended = {}
    for second in range(8):
        count = 3 if second < 4 else 2
        watch.add([make_interval([1.0] * count, second=second, outcome="http" if second == 3 else "success")], second)
        if watch.broken():
            ended.setdefault(str(watch.broken()), second)
    # 3+3+2, 3+2+2, 2+2+2: the mean is above 2 until the last.
    assert ended == {"rps > 2 over 3s, else stop": 6}
    rate, errors = results(watch, 8.0)
    assert (rate.passed, rate.value, rate.detail) == (False, 2.0, "rps: 2/s from 4 s to 7 s, not > 2/s")
    assert errors.passed


def test_the_threshold_that_ended_a_run_stays_the_one(make_interval):
    watch = watch_of("errors = 0 over 1s, else stop", "max < 200ms over 1s, else stop")
    watch.add([make_interval([300.0])], 0)
    watch.add([make_interval([300.0], second=1, outcome="http")], 1)
    assert str(watch.broken()) == "max < 200ms over 1s, else stop"


def test_what_comes_late_corrects_a_window(make_interval):
    watch = watch_of("requests > 1 over 2s", "max < 200ms over 2s", "max < 200ms for 1s")
    for second in range(4):
        watch.add([make_interval([1.0], second=second)] if second != 1 else [], second)
    assert not results(watch, 4.0)[0].passed
    watch.add([make_interval([1.0], second=1)], 3)
    assert results(watch, 4.0)[0].passed
    watch.add([make_interval([300.0], second=2)], 3)
    requests, over, lasting = results(watch, 4.0)
    assert (requests.passed, over.passed, lasting.passed) == (True, False, False)
    assert over.detail == "max: 300 ms from 1 s to 3 s, not < 200 ms"


def test_what_comes_too_late_for_its_window_is_still_in_the_sum(make_interval):
    watch = watch_of("max < 200ms over 1s", "max < 200ms", "requests = 52")
    for second in range(50):
        watch.add([make_interval([1.0], second=second)], second)
    watch.add([make_interval([300.0], second=49 - LATE)], 49)
    assert [result.passed for result in results(watch, 50.0)] == [True, False, False]
    watch.add([make_interval([300.0], second=50 - LATE)], 49)
    assert [result.passed for result in results(watch, 50.0)] == [False, False, True]


def test_seconds_that_are_not_complete_are_not_judged(make_interval):
    watch = watch_of("rps >= 5 over 1s, else stop", "requests = 11")
    watch.add([make_interval([1.0] * 5, second=0), make_interval([1.0], second=1)], 0)
    assert watch.broken() is None
    watch.add([make_interval([1.0] * 5, second=1)], 1)
    assert watch.broken() is None
    assert [result.passed for result in results(watch, 2.0)] == [True, True]


def test_memory_is_that_of_the_windows(make_interval):
    watch = watch_of("p99 < 1s over 10s", "p99 of / < 1s for 5s", "errors < 1%")
    tallies, objects = [], []
    for second in range(448):
        watch.add([make_interval([1.0], second=second)], second)
        tallies.append(count_reachable(watch, lambda each: isinstance(each, Totals)))
        # Not numbers: Python has the small ones only once.
        objects.append(count_reachable(watch, lambda each: not isinstance(each, int)))
    # One scope for all requests, one for the endpoint.
    assert max(tallies) <= 2 * (2 * (10 + LATE + 2) + LATE + 4)
    assert max(objects[384:]) <= max(objects[128:192]), "seconds that are over take no room"


cells = st.lists(
    st.tuples(
        st.integers(0, 14),
        st.sampled_from(["success", "http", "timeout", "connect"]),
        st.lists(st.integers(1, 400), min_size=1, max_size=3),
    ),
    max_size=30,
)


@given(cells, st.integers(1, 5), st.sampled_from(["over", "for"]), st.randoms(use_true_random=False))
def test_windows_are_judged_as_by_hand(make_interval, cells, length, mode, random):
    """Whatever the order, however late within reason: the same as going through all windows at the end."""
    watch = watch_of(f"max <= 200ms {mode} {length}s", f"errors <= 1 {mode} {length}s")
    arrivals = sorted(cells, key=lambda cell: cell[0] + random.randint(0, 4))
    for second in range(15):
        new: list[tuple[int, str, list[int]]] = []
        later: list[tuple[int, str, list[int]]] = []
        for cell in arrivals:
            is_new = cell[0] <= second and (random.random() < 0.5 or second - cell[0] > 5)
            (new if is_new else later).append(cell)
        arrivals = later
        watch.add([make_interval(times, second=at, outcome=outcome) for at, outcome, times in new], second)
    watch.add([make_interval(times, second=at, outcome=outcome) for at, outcome, times in arrivals], 14)

    def slow(first, seconds):
        inside = [cell for cell in cells if first <= cell[0] < first + seconds and cell[1] != "connect"]
        return not inside or any(max(times) > 200 - (outcome == "timeout") * 1e6 for _, outcome, times in inside)

    def failing(first, seconds):
        inside = [cell for cell in cells if first <= cell[0] < first + seconds]
        return not inside or sum(len(times) for _, outcome, times in inside if outcome != "success") > 1

    for result, violated in zip(results(watch, 15.0), (slow, failing), strict=True):
        firsts = range(15 - length + 1)
        if mode == "over":
            expected = not any(violated(first, length) for first in firsts)
        else:
            expected = not any(all(violated(second, 1) for second in range(first, first + length)) for first in firsts)
        assert result.passed == (expected and bool(cells))


def test_it_agrees_with_the_tables(make_interval):
    view, texts = RunView(warmup=1.0), ("p99 < 1s", "p50 < 1s", "avg < 1s", "max < 1s", "rps > 0", "errors < 100%")
    watch = watch_of(*texts, warmup=1.0)
    for second in range(6):
        new = [
            make_interval([1.5 * second + each / 3 for each in range(1, 40)], second=second),
            make_interval([7.0], second=second, name="/b", outcome="http"),
        ]
        view.add(new)
        watch.add(new, second)
    response = view.total.response
    assert [result.value for result in results(watch, view.duration)] == [
        response.quantile(0.99).value, response.median.value, response.mean.value, response.max.value,
        view.total.requests / view.duration, 100 * view.total.failures / view.total.requests,
    ]  # fmt: skip


def test_a_result_survives_json():
    result = ThresholdResult("p99 < 1s", False, None, 1000.0, "no answers", "ms", at_least=True)
    assert ThresholdResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    older = {"text": "a", "passed": True, "value": 1.0, "limit": 2.0, "detail": "d", "unknown": 3}
    assert ThresholdResult.from_dict(older) == ThresholdResult("a", True, 1.0, 2.0, "d")


def test_no_thresholds_no_results(make_interval):
    watch = ThresholdWatch(())
    watch.add([make_interval([1.0])], 0)
    assert (watch.broken(), results(watch, 1.0)) == (None, [])


def test_times_of_failed_requests_may_be_left_out(make_interval):
    texts = ("max < 1s", "errors = 1", "max < 1s over 2s")
    watch = ThresholdWatch([parse_threshold(text) for text in texts], timed=TIMES_OF["successes"])
    watch.add([make_interval([10.0]), make_interval([500.0], outcome="http")], 0)
    watch.add([make_interval([20.0], second=1)], 1)
    assert [each.value for each in results(watch, 2.0)] == [20.0, 1, 20.0]


def test_requests_without_a_response_are_errors_as_the_run_judges_them(make_interval):
    watch = ThresholdWatch([parse_threshold(text) for text in ("errors = 0", "requests > 0", "timeout = 0", "rps > 0")])
    watch.add([make_interval([10.0] * 6), make_interval([2000.0] * 2, second=3, outcome="unanswered")], 0, load_end=1.0)
    assert [result.value for result in results(watch, 1.0)] == [2, 8, 0, 6.0]
    watch.patience = Patience(30.0)
    assert [result.value for result in results(watch, 1.0)] == [0, 6, 0, 6.0]


def test_what_comes_after_the_load_is_no_throughput(make_interval):
    watch = ThresholdWatch([parse_threshold("rps >= 4")])
    watch.add([make_interval([10.0] * 4), make_interval([900.0] * 6, second=2)], 0, load_end=1.0)
    assert results(watch, 1.0)[0].value == 4.0
