"""The workers of a run in progress: one row each, and their sums per second for a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.report.charts.columns import Second
from plimsoll.server.live.endpoint_history import together
from plimsoll.server.messages import WorkerItem
from plimsoll.stats.latency.milliseconds import ms_at

if TYPE_CHECKING:
    from collections.abc import Collection, Container

    from plimsoll.record import Health
    from plimsoll.stats.seconds import RecentSeconds

_DRAWN = ("users", "in_flight", "waiting", "offered", "dropped")
"""Sums over all workers that charts show."""


def chart_second(recent: RecentSeconds, number: int, timed: Container[str]) -> Second:
    """One of the recent seconds: all endpoints and all workers together. timed: the outcomes whose times count."""
    totals = recent.second(number)
    parts = [each for outcome, each in totals.outcomes.items() if outcome in timed]
    response, service = together([each.response for each in parts]), together([each.service for each in parts])
    workers = recent.workers(number).values()
    return Second(number, totals.requests, totals.failures, response, service, **_generator(workers))


def _generator(workers: Collection[Health]) -> dict[str, Any]:
    if not workers:
        return {}
    return {
        "cpu": max(each.cpu for each in workers),
        "lag": together([each.lag for each in workers]),
        "delay": together([each.delay for each in workers]),
        **{name: sum(getattr(each, name) for each in workers) for name in _DRAWN},
    }


def worker_items(recent: RecentSeconds, lost: frozenset[int]) -> tuple[WorkerItem, ...]:
    """All workers that have reported or are lost. lost: indices."""
    return tuple(_item(recent, index, index in lost) for index in sorted(recent.reported.keys() | lost))


def _item(recent: RecentSeconds, index: int, is_lost: bool) -> WorkerItem:
    health = None if is_lost else recent.workers(recent.reported[index]).get(index)
    if health is None:
        return WorkerItem(index, 0, 0.0, None, None, 0, is_lost)
    lag, delay = ms_at(health.lag, 0.99), ms_at(health.delay, 0.99)
    return WorkerItem(index, health.users, health.cpu, lag, delay, health.in_flight)
