"""Views of runs in progress and over, from a few numbers per second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll._engine import Histogram
from plimsoll.record import Failure, Health, Interval
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable

CLOSED = Manifest(model="closed", users_kind="native")
OPEN = Manifest(model="open", users_kind="native", max_users=50)
SOUND = RunFacts(lost_workers=0, clock_step_ms=0.0)


def interval(
    second: int, count: int, ms: float = 10.0, *, outcome: str = "success", is_timed: bool = True, lag_ms: float = 0.0
) -> Interval:
    """Exchanges that the target took so many ms for, after they were sent so late."""
    made = Interval(second, "GET", "/a", outcome, count=count, untimed=0 if is_timed else count)
    if is_timed and count:
        service, response = round(ms * 1e6), round((ms + lag_ms) * 1e6)
        made.service_sum, made.response_sum = service * count, response * count
        made.response_min = made.response_max = response
        made.response.record(response // 1000, count)
        made.service.record(service // 1000, count)
    return made


def health(second: int, count: int = 100, *, lag_ms: float = 0.05, delay_ms: float = 0.1, **state: Any) -> Health:
    row = Health(second, state.pop("worker", 0), Histogram(), Histogram(), **state)
    if count:
        row.lag.record(max(1, round(lag_ms * 1000)), count)
        row.delay.record(max(1, round(delay_ms * 1000)), count)
    return row


def view_of(
    seconds: int = 12,
    requests: int = 100,
    *,
    ms: float = 10.0,
    failing: int = 0,
    outcome: str = "http",
    message: str = "503 Server Error",
    warmup: float = 0.0,
    length: float | None = None,
    state: Callable[[int], dict[str, Any]] | None = None,
    answers: Callable[[int], int] | None = None,
) -> RunView:
    """requests: of each second, `failing` of them failed. state: of the generator, by second. answers: instead of
    requests, by second. A second more than `seconds` has begun, unless there is a length."""
    view = RunView(warmup)
    for second in range(seconds + (length is None)):
        count = answers(second) if answers is not None else requests
        states = {"users": 50, "in_flight": 5, "cpu": 0.3, **(state(second) if state is not None else {})}
        late = states.get("lag_ms", 0.0)
        rows = [interval(second, count - failing, ms, lag_ms=late)] if count else []
        if failing:
            rows.append(interval(second, failing, ms, outcome=outcome, is_timed=outcome in ("http", "timeout")))
        failures = [Failure("GET", "/a", outcome, message, failing, 0.0, 1.0)] if failing and second >= warmup else []
        view.add(rows, [health(second, count, **states)], failures)
    if length is not None:
        view.length = length
    return view
