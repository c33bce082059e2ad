"""What `environment.stats` shows: Locust's statistics as live views over what the engine records.

Response times are always those of all requests with an answer or a timeout, of failed ones too: `--times-of successes`
is about the report of a run, not about these. The time until a connection is refused or breaks is not among them.

`locust.stats` is this module, so that a locustfile may set its constants: names in capitals, and
`bucket_response_time`, are looked up each time they are used.

    settings.py      these constants, for the modules of this package
    source.py        where the numbers come from: a Recorder, fed by this process or by what workers report
    numbers.py       the numbers of one row: recorded ones, or those of an entry that is counted by hand
    entry.py         StatsEntry, a row            request_stats.py  RequestStats, all of them
    errors.py        StatsError                   remade.py         exceptions from their texts
    percentiles.py   functions over {ms: count}   printing.py       tables
    csv_files.py     CSV                          intervals.py      points of the charts, reports to the main node
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from plimsoll.errors import LocustfileError
from plimsoll.locust.stats.csv_files import CSVWriter, StatsCSV, StatsCSVFileWriter
from plimsoll.locust.stats.entry import StatsEntry, StatsEntryDict
from plimsoll.locust.stats.errors import StatsError, StatsErrorDict
from plimsoll.locust.stats.intervals import stats_history, update_stats_history
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
from plimsoll.report.reporting import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CONSOLE_STATS_INTERVAL_SEC", "CSV_STATS_FLUSH_INTERVAL_SEC", "CSV_STATS_INTERVAL_SEC",
    "CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW", "HISTORY_STATS_INTERVAL_SEC", "INITIAL_NAME_WIDTH",
    "PERCENTILES_TO_CHART", "PERCENTILES_TO_REPORT", "PERCENTILES_TO_STATISTICS", "STATS_AUTORESIZE",
    "STATS_NAME_WIDTH", "STATS_TYPE_WIDTH", "CSVWriter", "CachedResponseTimes", "EntriesDict", "RequestStats",
    "StatsCSV", "StatsCSVFileWriter", "StatsEntry", "StatsEntryDict", "StatsError", "StatsErrorDict", "StatsSource",
    "avg", "bucket_response_time", "calculate_response_time_percentile", "console_logger",
    "diff_response_time_dicts", "get_error_report_summary", "get_percentile_stats_summary",
    "get_readable_percentiles", "get_stats_summary", "median_from_dict", "print_error_report",
    "print_percentile_stats", "print_stats", "print_stats_json", "save_stats_json", "sort_stats", "stats_history",
    "stats_printer", "update_stats_history", "validate_stats_configuration",
]  # fmt: skip

INITIAL_NAME_WIDTH = max(0, min(shutil.get_terminal_size((160, 24)).columns - 80, 80))
STATS_NAME_WIDTH = INITIAL_NAME_WIDTH
"""Width for the name of an endpoint: as wide as the terminal initially allowed, up to 80."""
STATS_AUTORESIZE = True
"""No effect: the width does not change."""
STATS_TYPE_WIDTH = 8
"""Width for the method."""

CONSOLE_STATS_INTERVAL_SEC: float = 2
"""Seconds between two tables on the console."""
HISTORY_STATS_INTERVAL_SEC: float = 5
"""Seconds between two points of `RequestStats.history`."""
CSV_STATS_INTERVAL_SEC: float = 1
"""Seconds between two lines of the CSV history."""
CSV_STATS_FLUSH_INTERVAL_SEC: float = 5
"""Maximum delay in seconds before data written to CSV files is in them."""
CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW = 10
"""Window of current percentiles in seconds; 60 at most."""

PERCENTILES_TO_REPORT = list(PERCENTILES)
"""The percentiles in tables and CSV files, from 0 to 1."""
PERCENTILES_TO_STATISTICS: Sequence[float] = [0.95, 0.99]
"""The percentiles in `StatsEntry.to_dict`."""
PERCENTILES_TO_CHART: Sequence[float] = [0.5, 0.95]
"""The percentiles in `RequestStats.history`."""
MOST_IN_CHART = 6


def validate_stats_configuration() -> None:
    """Raises LocustfileError for invalid percentiles, which a locustfile may assign."""
    if len(PERCENTILES_TO_CHART) > MOST_IN_CHART:
        raise LocustfileError(
            f"stats.PERCENTILES_TO_CHART has {len(PERCENTILES_TO_CHART)} percentiles; give {MOST_IN_CHART} at most"
        )
    for name, percentiles in (
        ("PERCENTILES_TO_CHART", PERCENTILES_TO_CHART),
        ("PERCENTILES_TO_STATISTICS", PERCENTILES_TO_STATISTICS),
    ):
        for each in percentiles:
            if not _is_percentile(each):
                raise LocustfileError(f"stats.{name}: {each!r} is not a number between 0 and 1, such as 0.95")


def _is_percentile(value: Any) -> bool:
    try:
        return 0 < float(value) < 1
    except (TypeError, ValueError):
        return False


def bucket_response_time(response_time: float) -> float:
    """The key in `StatsEntry.response_times` under which a response time in ms is counted.

    Its argument has three significant digits and is returned unchanged. A locustfile may assign a coarser function;
    percentiles do not depend on it.
    """
    return response_time
