import itertools
import json
import re
from pathlib import Path

import pytest

from plimsoll.report import charts
from plimsoll.report.charts.chart import KINDS, Chart, colours, config, draw, filled, identifier, short, unique

FOLDER = Path(charts.__file__).parent
LATENCY = {"what": "response time", "ticks": [1, 10], "series": ["a"], "point": True}


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """As WCAG 2.2 defines it."""
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_every_specification_is_in_the_list_and_every_one_listed_is_there():
    assert {path.name.removesuffix(".vl.json") for path in FOLDER.glob("*.vl.json")} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_specification_names_no_colour_and_no_data_of_its_own(kind):
    text = (FOLDER / f"{kind}.vl.json").read_text()
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b", text)
    assert '"values": [{' not in text
    assert '"url"' not in text
    assert json.loads(text)["description"].endswith(".")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_words_and_lines_can_be_told_from_the_paper(mode):
    found = colours(mode)
    for name in ("ink", "soft", "better", "worse", "same", "open", "c1", "c2"):
        assert contrast(found[name], found["paper"]) >= 4.5, name
        assert contrast(found[name], found["shade"]) >= 4.5, name
    for name in ("c3", "c4", "c5", "c6", "c7", "edge", "glow"):
        assert contrast(found[name], found["paper"]) >= 3, name


def lightness(colour: str) -> float:
    """L of OKLab: equal steps look equal."""
    linear = []
    for place in (1, 3, 5):
        part = int(colour[place : place + 2], 16) / 255
        linear.append(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
    red, green, blue = linear
    cones = (
        0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue,
        0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue,
        0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue,
    )
    long, middle, short_ = (each ** (1 / 3) for each in cones)
    return 0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short_


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_steps_of_the_heat_map_look_alike_and_lead_away_from_the_paper(mode):
    found = colours(mode)
    steps = [lightness(found[f"h{number}"]) for number in range(1, 7)]
    differences = [b - a for a, b in itertools.pairwise(steps)]
    assert all(each == pytest.approx(differences[0], abs=0.01) for each in differences)
    away = [abs(each - lightness(found["paper"])) for each in steps]
    assert away == sorted(away)
    assert contrast(found["h1"], found["paper"]) > 1.25


def test_light_and_dark_have_the_same_names():
    assert colours("light").keys() == colours("dark").keys()


def test_on_a_page_colours_are_variables():
    assert config("page")["axis"]["labelColor"] == "var(--soft)"
    assert config("light")["axis"]["labelColor"] == colours("light")["soft"]


def test_a_place_that_is_a_whole_text_becomes_any_value_and_one_within_a_text_becomes_text():
    spec = {"a": ["{{list}}", {"b": "of {{name}}, {{list}}"}], "c": 1}
    assert filled(spec, {"list": [1, 2], "name": "x"}) == {"a": [[1, 2], {"b": "of x, [1, 2]"}], "c": 1}
    assert spec["a"][0] == "{{list}}"


def test_a_place_that_nobody_fills_is_a_mistake():
    with pytest.raises(KeyError, match="what"):
        draw("percentiles", "x", "X", {"together": []}, {})


def test_what_a_target_sent_stays_data():
    """Placeholders are filled once: a name that looks like one is a name."""
    row = {"series": "{{what}}", "q": 0.5, "ms": 1.0}
    chart = draw("percentiles", "x", "X", {"together": [row]}, {**LATENCY, "series": ["{{what}}"]})
    assert chart.spec["datasets"]["together"] == [row]
    assert chart.spec["encoding"]["color"]["scale"]["domain"] == ["{{what}}"]


def test_layers_without_rows_are_left_out_and_numbers_that_json_does_not_know_are_null():
    rows = [{"series": "a", "q": 0.5, "ms": float("nan")}]
    chart = draw("percentiles", "x", "X", {"together": rows, "few": []}, LATENCY)
    assert [layer["data"]["name"] for layer in chart.spec["layer"]] == ["together"]
    assert chart.spec["datasets"]["together"][0]["ms"] is None
    json.dumps(chart.spec, allow_nan=False)


def test_names_are_fit_for_files_and_elements_and_are_made_unique():
    assert identifier("GET /a</script>&ü") == "get-a-script"
    assert identifier("///") == "chart"
    made = unique(Chart(name, name, {}) for name in ("a", "b", "a", "a"))
    assert [each.name for each in made] == ["a", "b", "a-2", "a-3"]


def test_short_numbers_keep_five_digits():
    assert short(123456.789) == 123460
    assert short(0.00123456789) == 0.0012346
