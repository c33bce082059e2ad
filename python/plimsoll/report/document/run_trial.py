"""A run on its own as statistics see it, so that it has the findings and the charts of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plimsoll.record import Interval
from plimsoll.record.manifest import Manifest
from plimsoll.report.load import load_in_short
from plimsoll.stats.study import Course, FailureKind, Level, Measured, Trial

if TYPE_CHECKING:
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.sources import Described
    from plimsoll.stats.reading import RunReading
    from plimsoll.stats.view import EndpointView, RunView


def trial_of_run(
    view: RunView, run: Described | None, assessment: Assessment, reading: RunReading | None = None
) -> Trial:
    """From what was read, with percentiles of each second; from the view alone if nothing was."""
    level = _level(run.manifest if run else Manifest())
    if run is not None and reading is not None:
        from plimsoll.stats.trial import trial_of

        return trial_of(run, reading, variant=load_in_short(run.manifest) or "run", level=level)
    return _of_view(view, run, assessment, level)


def _level(manifest: Manifest) -> Level | None:
    users = manifest.users
    return Level("users", float(users)) if users is not None and not manifest.is_open else None


def _of_view(view: RunView, run: Described | None, assessment: Assessment, level: Level | None) -> Trial:
    users = view.generator.users_by_second()
    last = view.last_second
    return Trial(
        run.id if run else "memory",
        (load_in_short(run.manifest) if run else "") or "run",
        level,
        users=level.value if level is not None else None,
        duration=view.duration or None,
        warmup=float(view.warmup),
        endpoints=tuple(_measured(each, view) for each in view.endpoints),
        total=_measured(view.total, view),
        invalid=assessment.validity.unfit,
        lag=view.generator.lag if view.generator.lag.count else None,
        users_by_second=np.array([float(users.get(second, 0)) for second in range(last + 1)]) if users else None,
    )


def _measured(of: EndpointView, view: RunView) -> Measured:
    all_times = Interval(0, of.method, of.name, "")
    for interval in of.outcomes.values():
        if interval.outcome in view.timed:
            all_times.add(interval)
    times = of.response_of(view.timed)
    kinds = [each for each in view.failures if (each.method, each.name) == (of.method, of.name)]
    counts = np.array(of.requests_by_second, dtype=np.int64)
    unknown = np.full(len(counts), np.nan)
    return Measured(
        of.method,
        of.name,
        requests=of.requests,
        failures=of.failures,
        rate=view.rate(of) if view.duration else None,
        unanswered=of.unanswered,
        overdue=of.overdue,
        max=times.max.value if times.max is not None else None,
        outcomes={name: each.count for name, each in of.outcomes.items()},
        kinds=tuple(FailureKind(each.outcome, each.text, each.count, group=each.message) for each in kinds),
        histogram=all_times.response,
        service=all_times.service,
        on_time=all_times.on_time,
        course=Course(
            counts,
            np.array(of.failures_by_second, dtype=np.int64),
            unknown,
            unknown,
            unknown,
            (None,) * len(counts),
            slice(view.warmup, None),
        ),
    )
