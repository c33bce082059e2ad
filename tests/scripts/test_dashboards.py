"""The dashboards in the package are those that the script builds. `tests/report/render/test_grafana.py` runs their
queries."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("grafana_foundation_sdk", reason="pip install grafana-foundation-sdk")

from scripts import dashboards


@pytest.mark.parametrize("source", ["prometheus", "influxdb"])
def test_the_package_has_the_dashboard_that_the_script_builds(source: dashboards.Source) -> None:
    assert (dashboards.FOLDER / f"{source}.json").read_text() == dashboards.build(source)


@pytest.mark.parametrize("source", ["prometheus", "influxdb"])
def test_panels_fill_rows_and_do_not_overlap(source: dashboards.Source) -> None:
    places = [panel["gridPos"] for panel in json.loads(dashboards.build(source))["panels"]]
    cells = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert {x for x, _ in cells} == set(range(24))
    assert len(cells) == 24 * (max(y for _, y in cells) + 1)


@pytest.mark.parametrize("source", ["prometheus", "influxdb"])
def test_every_event_has_one_annotation(source: dashboards.Source) -> None:
    kinds = [kind for _, events, _ in dashboards.ANNOTATIONS for kind in events.split("|")]
    assert len(kinds) == len(set(kinds))
