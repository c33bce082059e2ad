from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import plimsoll.web
from plimsoll.errors import PlimsollError
from plimsoll.report.charts.chart import colours
from plimsoll.web import live_folder, report_script, report_style


@pytest.mark.parametrize("text", [report_script, report_style])
def test_what_is_written_into_a_page_cannot_end_its_element(text) -> None:
    assert not any(each in text().lower() for each in ("</script", "</style", "<!--", "\r"))


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_page_has_the_colours_of_the_charts(mode) -> None:
    missing = [
        name
        for name, value in colours(mode).items()
        if not re.search(rf"--{name}:({value}|{_in_short(value)})[;}}]", report_style())
    ]
    assert missing == []


def _in_short(colour: str) -> str:
    """#aabbcc is written as #abc."""
    return re.sub(r"#(.)\1(.)\2(.)\3", r"#\1\2\3", colour)


def test_the_report_names_no_other_host() -> None:
    # Namespaces and addresses of schemas and of errors' explanations are never asked for; the policy of the file
    # forbids it besides.
    assert "@import" not in report_style()
    assert "url(" not in report_style()


def test_the_live_page_has_no_inline_script_and_asks_no_other_host() -> None:
    page = (live_folder() / "index.html").read_text()
    assert "<script>" not in page
    assert "<style" not in page
    assert "http" not in page
    assert 'src="./assets/' in page


def test_vega_is_no_part_of_what_the_live_page_needs_first() -> None:
    page = (live_folder() / "index.html").read_text()
    scripts = list((live_folder() / "assets").glob("*.js"))
    vega = [each for each in scripts if "vega" in each.read_text() and each.stat().st_size > 300_000]
    assert len(vega) == 1
    assert vega[0].name not in page


@pytest.mark.parametrize("ask", ["report_script", "report_style", "live_folder"])
def test_a_page_that_was_not_built_is_told_with_what_builds_it(tmp_path: Path, ask: str) -> None:
    copy = tmp_path / "web.py"
    copy.write_text(Path(plimsoll.web.__file__).read_text())
    spec = importlib.util.spec_from_file_location("unbuilt", copy)
    assert spec and spec.loader
    unbuilt = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(unbuilt)
    with pytest.raises(PlimsollError, match=r"not built.*make setup"):
        getattr(unbuilt, ask)()
