import json
import re
import struct
import xml.etree.ElementTree as ET

import pytest
from tests.report.seconds import live_set
from tests.report.studies import SAMPLES, chain, ladder

from plimsoll.report.charts import charts_of
from plimsoll.report.charts.chart import colours
from plimsoll.report.render.pictures import VERSION, png, svg


def one_of_each_kind():
    found = {}
    for shape, sample in SAMPLES.items():
        for chart in charts_of(sample()):
            found.setdefault(chart.kind, (shape, chart))
    return found


KINDS = one_of_each_kind()
KINDS |= {chart.kind: ("live", chart) for chart in live_set(90, is_open=True).charts()}


def first(analysis, kind):
    return next(chart for chart in charts_of(analysis) if chart.kind == kind)


def test_pictures_and_the_page_are_drawn_by_the_same_version(pytestconfig):
    page = json.loads((pytestconfig.rootpath / "web" / "package.json").read_text())
    assert page["dependencies"]["vega-lite"].startswith(f"{VERSION}.")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_chart_is_drawn(kind):
    _, chart = KINDS[kind]
    text = svg(chart)
    assert ET.fromstring(text).tag.endswith("svg")
    assert "NaN" not in text
    assert "undefined" not in text
    # The title, and a label on each axis that has some.
    assert chart.title in "".join(ET.fromstring(text).itertext())
    assert len(re.findall(r"<text", text)) >= 6


def test_there_is_a_point_for_each_verdict_and_a_line_for_its_interval():
    text = svg(first(ladder(), "verdicts"))
    assert text.count('aria-roledescription="point"') == 4
    # Four intervals, and the rule at 1.
    assert text.count('aria-roledescription="rule mark"') == 5


def test_each_variant_and_percentile_has_its_line():
    assert svg(first(ladder(), "ladder_latency")).count('aria-roledescription="line mark"') >= 2 * 3


def test_what_a_target_is_called_is_text():
    for chart in charts_of(SAMPLES["rates"]()):
        if chart.kind == "percentiles":
            assert "<script" not in svg(chart)


def test_light_and_dark_differ_in_their_colours_only():
    chart = first(chain(), "histogram")
    light, dark = svg(chart, "light"), svg(chart, "dark")
    assert colours("light")["paper"] in light
    assert colours("dark")["paper"] in dark
    assert light.count("<path") == dark.count("<path")


def test_a_png_is_a_picture_of_that_size_with_something_on_it():
    data = png(first(chain(), "histogram"), scale=1.0)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert 640 < width < 900
    assert 180 < height < 500
    assert len(data) > 4000, "an empty sheet compresses to less"
