"""The statistics as tables of text and as JSON."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gevent

from plimsoll.locust.stats import settings
from plimsoll.locust.stats.percentiles import get_readable_percentiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from plimsoll.locust.stats.request_stats import RequestStats

console_logger = logging.getLogger("locust.stats_logger")


def get_stats_summary(stats: RequestStats, current: bool = True) -> list[str]:
    """The lines of the table of requests. current: with the rates of the last 10 seconds, else of the whole time."""
    name = max(1, settings.STATS_NAME_WIDTH - settings.STATS_TYPE_WIDTH + 4)
    head = (
        f"{'Type':<{settings.STATS_TYPE_WIDTH}} {'Name':<{name}} {'# reqs':>7} {'# fails':>12} |"
        f"{'Avg':>7} {'Min':>7} {'Max':>7}{'Med':>7} | {'req/s':>7} {'failures/s':>11}"
    )
    rule = _rule(settings.STATS_TYPE_WIDTH, name, 7, 13, 7, 7, 7, 7, 8, 11)
    rows = [entry.to_string(current=current) for entry in sort_stats(stats.entries)]
    return [head, rule, *rows, rule, stats.total.to_string(current=current)]


def get_percentile_stats_summary(stats: RequestStats) -> list[str]:
    """The lines of the table of percentiles (PERCENTILES_TO_REPORT)."""
    titles = get_readable_percentiles(settings.PERCENTILES_TO_REPORT)
    head = (
        f"{'Type':<{settings.STATS_TYPE_WIDTH}} {'Name':<{settings.STATS_NAME_WIDTH}} "
        f"{titles[0] if titles else '':>8} {' '.join(f'{title:>6}' for title in [*titles[1:], '# reqs'])}"
    )
    rule = _rule(settings.STATS_TYPE_WIDTH, settings.STATS_NAME_WIDTH, 8, *[6] * len(titles))
    rows = [entry.percentile() for entry in sort_stats(stats.entries) if entry.min_response_time is not None]
    total = [stats.total.percentile()] if stats.total.min_response_time is not None else []
    return ["Response time percentiles (ms)", head, rule, *rows, rule, *total]


def get_error_report_summary(stats: RequestStats) -> list[str]:
    """The lines of the table of errors."""
    rule = _rule(18, settings.STATS_NAME_WIDTH + 61)
    rows = [f"{error.occurrences:<18d} {error.to_name():<100}" for error in stats.errors.values()]
    return ["Error report", f"{'# occurrences':18} {'Error':100}", rule, *rows, rule, ""]


def print_stats(stats: RequestStats, current: bool = True) -> None:
    """Log the table of requests to the logger of the console, like the tables below."""
    _log([*get_stats_summary(stats, current), ""])


def print_percentile_stats(stats: RequestStats) -> None:
    _log([*get_percentile_stats_summary(stats), ""])


def print_error_report(stats: RequestStats) -> None:
    """Log the table of errors, if there are any."""
    if stats.errors:
        _log(get_error_report_summary(stats))


def print_stats_json(stats: RequestStats) -> None:
    """Print all entries as JSON to stdout."""
    print(json.dumps(stats.serialize_stats(), indent=4))


def save_stats_json(stats: RequestStats, filename: str) -> None:
    """Save all entries as JSON to this file name with ".json" appended."""
    Path(f"{filename}.json").write_text(json.dumps(stats.serialize_stats(), indent=4))


def stats_printer(stats: RequestStats) -> Callable[[], None]:
    """A function for `gevent.spawn` that prints the table every CONSOLE_STATS_INTERVAL_SEC seconds."""

    def print_again_and_again() -> None:
        while True:
            print_stats(stats)
            gevent.sleep(settings.CONSOLE_STATS_INTERVAL_SEC)

    return print_again_and_again


def sort_stats(stats: Mapping[Any, Any]) -> list[Any]:
    """The values in key order."""
    return [stats[key] for key in sorted(stats)]


def _rule(*widths: int) -> str:
    return "|".join("-" * width for width in widths)


def _log(lines: Iterable[str]) -> None:
    for line in lines:
        console_logger.info(line)
