"""What a locustfile may set in `locust.stats`. Each is looked up here each time it is used."""

from __future__ import annotations

import shutil

from plimsoll.report.reporting import PERCENTILES

INITIAL_NAME_WIDTH = max(0, min(shutil.get_terminal_size((160, 24)).columns - 80, 80))
STATS_NAME_WIDTH = INITIAL_NAME_WIDTH
"""Characters for the name of an endpoint: as many as the terminal had room for at first, up to 80."""
STATS_AUTORESIZE = True
"""Makes no difference: the width stays what it is."""
STATS_TYPE_WIDTH = 8
"""Characters for the method."""

CONSOLE_STATS_INTERVAL_SEC: float = 2
"""Seconds between two tables on the console."""
HISTORY_STATS_INTERVAL_SEC: float = 5
"""Seconds between two points of `RequestStats.history`."""
CSV_STATS_INTERVAL_SEC: float = 1
"""Seconds between two lines of the CSV history."""
CSV_STATS_FLUSH_INTERVAL_SEC: float = 5
"""Seconds after which what was written to CSV files is surely in them."""
CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW = 10
"""Seconds that current percentiles look back; 60 at most."""

PERCENTILES_TO_REPORT = list(PERCENTILES)
"""Of tables and CSV files, from 0 to 1."""
PERCENTILES_TO_STATISTICS = [0.95, 0.99]
"""Of `StatsEntry.to_dict`."""
PERCENTILES_TO_CHART = [0.5, 0.95]
"""Of `RequestStats.history`."""


def bucket_response_time(response_time: float) -> float:
    """The key in `StatsEntry.response_times` that a response time in ms is counted under.

    It is called with times that are right to three digits and leaves them so. A locustfile may put a coarser function
    in its place; percentiles do not depend on it.
    """
    return response_time
