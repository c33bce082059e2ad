import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from tests.report.studies import SAMPLES, ladder

from plimsoll.report.charts import charts_of
from plimsoll.report.document.pictures import AXIS, ShownCharts, chart_spec
from plimsoll.report.render.pictures import svg

KINDS = {chart.kind: chart for sample in SAMPLES.values() for chart in charts_of(sample())}


def some():
    return charts_of(ladder())


def test_a_document_says_itself_what_a_chart_is_called_and_shows():
    of = next(each for each in some() if each.kind == "ladder_throughput")
    spec = chart_spec(of)
    assert (spec.name, spec.title, spec.note, spec.base) == (of.name, of.title, of.note, "")
    assert spec.description == of.spec["description"]
    assert not {"title", "description", "$schema"} & spec.spec.keys()
    assert spec.spec["datasets"] is of.spec["datasets"]


@pytest.mark.parametrize("kind", KINDS)
def test_room_is_kept_for_a_chart_as_high_as_it_is_drawn(kind):
    of = KINDS[kind]
    if kind.startswith("course"):
        # The legend of a chart over time stands above the picture, and its box is always the same.
        assert chart_spec(of).height == 170 + AXIS
        return
    drawn = ET.fromstring(svg(replace(of, title="", note=""))).get("height")
    assert drawn is not None
    # A picture by itself has a margin of 16 px in place of the page's 2, above and below.
    assert abs(chart_spec(of).height - (float(drawn) - 28)) < 12


def test_only_what_is_shown_is_in_the_document_and_once():
    pictures = ShownCharts(some())
    first, second, *_ = pictures.all
    assert pictures.block([first, second])[0].charts == (first.name, second.name)
    assert pictures.block([first], wide=True)[0].wide
    assert pictures.block([]) == ()
    assert [each.name for each in pictures.specs()] == [first.name, second.name]


def test_a_copy_has_a_name_of_its_own_and_the_data_of_its_base_once():
    pictures = ShownCharts(some())
    of = next(each for each in pictures.all if each.kind == "ladder_throughput")
    more = of.spec | {"datasets": of.spec["datasets"] | {"highlight": [{"from": 1, "to": 2}]}}
    names = {pictures.copy(of, replace(of, spec=more)) for _ in range(3)}
    assert len(names | {of.name}) == 4
    base, *copies = pictures.specs()
    assert base.spec["datasets"] == of.spec["datasets"]
    for each in copies:
        assert (each.base, each.spec["datasets"]) == (of.name, {"highlight": [{"from": 1, "to": 2}]})
        assert each.spec["layer"] == base.spec["layer"]
