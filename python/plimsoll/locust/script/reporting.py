"""What a locustfile wants of the reports that the coordinator writes."""

from __future__ import annotations

import sys
from typing import Any


def reporting() -> dict[str, Any]:
    """What it has set in `locust.stats`, as `Reporting.from_dict` takes it; nothing if it never imported that."""
    settings = sys.modules.get("plimsoll.locust.stats")
    if settings is None:
        return {}
    found = {
        "console_interval": settings.CONSOLE_STATS_INTERVAL_SEC,
        "csv_interval": settings.CSV_STATS_INTERVAL_SEC,
        "percentiles": settings.PERCENTILES_TO_REPORT,
    }
    if settings.STATS_NAME_WIDTH != settings.INITIAL_NAME_WIDTH:
        found["name_width"] = settings.STATS_NAME_WIDTH
    return {name: value for name, value in found.items() if _travels(value)}


def _travels(value: Any) -> bool:
    """Whether it is a number, or a list of them: user code may have put anything there."""
    values = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(each, int | float) for each in values)
