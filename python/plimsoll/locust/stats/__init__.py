"""What `environment.stats` shows: Locust's statistics as live views over what the engine records.

Response times are always those of all requests with an answer or a timeout, of failed ones too: `--times-of successes`
is about the report of a run, not about these. The time until a connection is refused or breaks is not among them.

`locust.stats` is this very module. What a locustfile sets here (`locust.stats.CONSOLE_STATS_INTERVAL_SEC = 5`) is set
in `settings`, where it is looked up each time it is used.

    settings.py      what a locustfile may set
    source.py        where the numbers come from: a Recorder, fed by this process or by what workers report
    numbers.py       the numbers of one row: recorded ones, or those of an entry that somebody counts by hand
    entry.py         StatsEntry, a row            request_stats.py  RequestStats, all of them
    errors.py        StatsError                   remade.py         exceptions from their texts
    percentiles.py   functions over {ms: count}
    printing.py      tables                       history.py        points of the charts
    csv_files.py     CSV                         report.py          what is new since the last report
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from plimsoll.locust.stats import settings
from plimsoll.locust.stats.csv_files import CSVWriter, StatsCSV, StatsCSVFileWriter
from plimsoll.locust.stats.entry import StatsEntry, StatsEntryDict
from plimsoll.locust.stats.errors import StatsError, StatsErrorDict
from plimsoll.locust.stats.history import stats_history, update_stats_history
from plimsoll.locust.stats.percentiles import (
    CachedResponseTimes,
    avg,
    calculate_response_time_percentile,
    diff_response_time_dicts,
    get_readable_percentiles,
    median_from_dict,
)
from plimsoll.locust.stats.printing import (
    console_logger,
    get_error_report_summary,
    get_percentile_stats_summary,
    get_stats_summary,
    print_error_report,
    print_percentile_stats,
    print_stats,
    print_stats_json,
    save_stats_json,
    sort_stats,
    stats_printer,
)
from plimsoll.locust.stats.request_stats import EntriesDict, RequestStats
from plimsoll.locust.stats.source import StatsSource

if TYPE_CHECKING:
    from plimsoll.locust.stats.settings import (
        CONSOLE_STATS_INTERVAL_SEC,
        CSV_STATS_FLUSH_INTERVAL_SEC,
        CSV_STATS_INTERVAL_SEC,
        CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW,
        HISTORY_STATS_INTERVAL_SEC,
        INITIAL_NAME_WIDTH,
        PERCENTILES_TO_CHART,
        PERCENTILES_TO_REPORT,
        PERCENTILES_TO_STATISTICS,
        STATS_AUTORESIZE,
        STATS_NAME_WIDTH,
        STATS_TYPE_WIDTH,
        bucket_response_time,
    )

__all__ = [
    "CONSOLE_STATS_INTERVAL_SEC",
    "CSV_STATS_FLUSH_INTERVAL_SEC",
    "CSV_STATS_INTERVAL_SEC",
    "CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW",
    "HISTORY_STATS_INTERVAL_SEC",
    "INITIAL_NAME_WIDTH",
    "PERCENTILES_TO_CHART",
    "PERCENTILES_TO_REPORT",
    "PERCENTILES_TO_STATISTICS",
    "STATS_AUTORESIZE",
    "STATS_NAME_WIDTH",
    "STATS_TYPE_WIDTH",
    "CSVWriter",
    "CachedResponseTimes",
    "EntriesDict",
    "RequestStats",
    "StatsCSV",
    "StatsCSVFileWriter",
    "StatsEntry",
    "StatsEntryDict",
    "StatsError",
    "StatsErrorDict",
    "StatsSource",
    "avg",
    "bucket_response_time",
    "calculate_response_time_percentile",
    "console_logger",
    "diff_response_time_dicts",
    "get_error_report_summary",
    "get_percentile_stats_summary",
    "get_readable_percentiles",
    "get_stats_summary",
    "median_from_dict",
    "print_error_report",
    "print_percentile_stats",
    "print_stats",
    "print_stats_json",
    "save_stats_json",
    "sort_stats",
    "stats_history",
    "stats_printer",
    "update_stats_history",
]


class _SettableModule(ModuleType):
    """A module whose settings are those of `settings`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(settings, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(settings, name) and not name.startswith("__"):
            setattr(settings, name, value)
        else:
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _SettableModule
