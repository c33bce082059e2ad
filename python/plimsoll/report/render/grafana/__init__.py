"""The dashboards of a run for Grafana, which `python -m scripts.dashboards` builds."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from plimsoll.report.sources import OutputRequest, RunSource

MARGIN_S = 10
"""Seconds before and after the run that are shown."""


def grafana_dashboard(source: RunSource, request: OutputRequest, *, data: Literal["prometheus", "influxdb"]) -> str:
    """The dashboard, which opens with this run. data: the kind of its data source."""
    dashboard = json.loads((Path(__file__).parent / f"{data}.json").read_text())
    run = source.stored
    for variable in dashboard["templating"]["list"]:
        if variable["name"] == "run":
            variable["current"] = {"selected": True, "text": run.id, "value": run.id}
    ended = run.ended if run.ended is not None else run.started + source.view.last_second + 1
    dashboard["time"] = {"from": _moment(run.started - MARGIN_S), "to": _moment(ended + MARGIN_S)}
    dashboard.pop("refresh", None)  # the run is over
    return f"{json.dumps(dashboard, indent=1)}\n"


def _moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
