from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from tests.report.browser import PROGRAM, Browser
from tests.report.studies import EVIL, SAMPLES

from plimsoll.record import CaughtException, Failure
from plimsoll.report.html import html, page
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.study import Level, Measured, Study, Trial
from plimsoll.stats.view import RunView

VOID = {"meta", "br", "hr", "img", "input"}
ALERT = "</td></script><script>document.title='stolen'</script><img src=x onerror=alert(1)>"

written = functools.cache(lambda shape: page(SAMPLES[shape]()))


def shown(text: str) -> str:
    """Without its data and scripts."""
    return text.split('<script type="application/json"')[0]


class Page(HTMLParser):
    """What a page consists of, and what is wrong with the nesting of its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.elements: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.scripts: list[str] = []
        self.headings: list[str] = []
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attributes]
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "script":
            self.scripts.append("")
        if tag in ("h1", "h2"):
            self.headings.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open:
            return
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data
        if self.open[-1] == "script":
            self.scripts[-1] += data
        if self.open[-1] in ("h1", "h2"):
            self.headings[-1] += data

    def of(self, name: str) -> list[str]:
        return [value for _, each, value in self.attributes if each == name]


@pytest.mark.parametrize("shape", SAMPLES)
def test_it_needs_nothing_else(shape):
    found = Page(written(shape))
    assert all(value.startswith("#") for value in found.of("href"))
    assert found.of("src") == []
    assert "link" not in found.elements
    style = written(shape).split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert "http" not in style
    policy = next(value for value in found.of("content") if "default-src" in value)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy
    assert "http" not in policy


@pytest.mark.parametrize("shape", SAMPLES)
def test_only_its_own_two_scripts_may_run(shape):
    found = Page(written(shape))
    policy = next(value for value in found.of("content") if "default-src" in value)
    data, *scripts = found.scripts
    assert len(scripts) == 2
    for each in scripts:
        assert base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() in policy
    assert not [name for _, name, _ in found.attributes if name.startswith("on")]
    assert json.loads(data)["charts"]


SECTIONS = {
    "ladder": ["validity", "findings", "verdicts", "ladder", "operations", "course", "target", "environment", "notes"],
    "operations": ["validity", "findings", "operations", "course", "target", "environment", "notes"],
    "chain": [
        "validity", "findings", "summary", "verdicts", "operations", "course", "target", "environment", "notes",
    ],
    "rates": [
        "validity", "findings", "summary", "ladder", "verdicts", "operations", "course", "target", "environment",
        "notes",
    ],
    "imported": ["validity", "verdicts", "operations", "environment", "notes"],
}  # fmt: skip


@pytest.mark.parametrize("shape", SAMPLES)
def test_sections_stand_in_the_order_of_the_shape(shape):
    found = Page(written(shape))
    assert [each for each in found.ids if each in SECTIONS["chain"] or each == "ladder"] == SECTIONS[shape]
    assert len(set(found.ids)) == len(found.ids)
    for link in found.of("href"):
        assert link[1:] in found.ids


@pytest.mark.parametrize("shape", SAMPLES)
def test_every_picture_has_its_data_and_a_description(shape):
    found = Page(written(shape))
    charts = json.loads(found.scripts[0])["charts"]
    assert set(found.of("data-chart")) <= charts.keys()
    assert "img" in found.of("role")
    labels = [value for tag, name, value in found.attributes if (tag, name) == ("div", "aria-label")]
    assert all(labels)


def test_tabs_belong_to_their_panels():
    found = Page(written("operations"))
    assert found.of("aria-controls") == ["panel-1", "panel-2", "panel-3", "panel-4"]
    assert found.of("aria-labelledby") == ["tab-1", "tab-2", "tab-3", "tab-4"]
    assert set(found.of("aria-controls")) <= set(found.ids)


def test_what_a_target_is_called_is_text_and_not_markup():
    text = written("rates")
    found = Page(text)
    assert found.elements.count("script") == 3
    assert EVIL not in text
    assert any(EVIL in row for row in found.rows)
    rows = [
        row for chart in json.loads(found.scripts[0])["charts"].values() for row in chart["datasets"].get("rows", ())
    ]
    assert any(EVIL in row["label"] for row in rows), "in the data it is what it was"


def test_findings_come_before_numbers():
    for shape in ("ladder", "operations", "chain", "rates"):
        text = written(shape)
        assert text.index('id="validity"') < text.index('id="findings"') < text.index("<table")


def test_two_thousand_endpoints_do_not_make_a_page_that_no_browser_opens():
    def measured(place: int) -> Measured:
        quantiles = {0.5: 10.0 + place, 0.9: 20.0 + place, 0.99: 40.0 + place}
        return Measured("GET", f"/some/longer/path/{place:05}", place, 0, 10.0, 12.0, 1.0, 99.0, quantiles, 100.0)

    endpoints = tuple(measured(place) for place in range(2000))
    trials = [
        Trial(f"{variant}-{users}-{repeat}", variant, Level("users", users), repeat=repeat, endpoints=endpoints,
              total=Measured("", "Aggregated", 1000, 0, 10.0))
        for variant in ("old", "new") for users in (10, 20) for repeat in range(2)
    ]  # fmt: skip
    text = page(Analysis(Study("wide", tuple(trials)), (), ()))
    assert len(text) < 8_000_000
    assert "/some/longer/path/01999" in text
    assert re.search(r"\d+ more are in the CSV and JSON reports", text)


def test_a_run_has_its_numbers(view, run, valid):
    rows = {tuple(row[:2]): row for row in reversed(Page(html(view, run, valid)).rows)}
    assert rows["GET", "/todos"][2:4] == ["204", "4"]
    assert rows["POST", "/todos"][2:4] == ["12", "4"]
    total = next(row for row in Page(html(view, run, valid)).rows if row[1] == "Aggregated")
    assert total[2:4] == ["217", "9"]


def test_what_users_wrote_is_text_too(view, run, valid):
    failure = Failure("GET", ALERT, "http", ALERT, 1, 1.0, 2.0)
    view.add([], [], [failure], [CaughtException(ALERT, ALERT, 1, {0})])
    run.notes = [ALERT]
    run.manifest["host"] = ALERT
    found = Page(html(view, run, valid))
    assert found.elements.count("script") == 3
    assert "img" not in found.elements
    assert sum(ALERT in cell for row in found.rows for cell in row) == 2


def test_an_invalid_run_says_so_before_its_numbers(view, run, valid, invalid):
    text = shown(html(view, run, invalid))
    assert text.index("INVALID") < text.index("# Requests")
    assert all(reason in text for reason in invalid.validity.reasons)
    assert 'class="scroll struck"' in text
    assert "INVALID" not in shown(html(view, run, valid))


def test_thresholds_are_there_if_there_are_any(view, run, valid, invalid):
    assert "p100 &lt; 30s" in html(view, run, invalid)
    assert 'id="thresholds"' not in html(view, run, replace(valid, thresholds=()))


def test_a_run_that_was_not_kept_has_a_page_too(view, valid):
    assert "was not kept" in html(view, None, valid)


def test_a_run_without_any_request_has_a_page_too(run, valid):
    assert Page(html(RunView(), run, valid)).headings[0] == f"Run {run.id}"


def test_whoever_asks_for_no_page_does_not_wait_for_what_draws_it():
    code = "import sys, plimsoll.run.perform; print([m for m in ('vl_convert', 'jinja2', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if PROGRAM is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page from a file and gives the browser."""

    def open_page(text: str, **how) -> Browser:
        path = tmp_path / f"page-{len(list(tmp_path.iterdir()))}.html"
        path.write_text(text, encoding="utf-8")
        browser.open(path, **how)
        return browser

    return open_page


COUNT = "document.querySelectorAll({!r}).length"


@pytest.mark.parametrize("shape", SAMPLES)
def test_a_browser_draws_every_chart_and_has_nothing_to_complain_of(opened, shape):
    browser = opened(written(shape))
    assert browser.complaints == []
    pictures = browser.run(COUNT.format("[data-chart]"))
    assert pictures >= 2
    assert browser.run(COUNT.format("[data-chart] svg.marks")) == pictures
    assert browser.run(COUNT.format(".failed")) == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(opened, width):
    browser = opened(written("ladder"), width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_charts_follow_the_theme_without_being_drawn_again(opened):
    browser = opened(written("chain"), scheme="dark")
    colour = "getComputedStyle(document.querySelector('svg.marks text')).fill"
    dark = browser.run(colour)
    browser.run("document.querySelector('svg.marks').dataset.same = 1")
    browser.run("document.querySelector('.theme').click()")
    assert browser.run("document.documentElement.dataset.theme") == "light"
    assert browser.run(colour) != dark
    assert browser.run(COUNT.format("svg.marks[data-same]")) == 1


def test_tabs_are_walked_with_the_arrow_keys(opened):
    browser = opened(written("operations"))
    selected = "document.querySelector('[role=tab][aria-selected=true]').textContent"
    panels = "[...document.querySelectorAll('[role=tabpanel]')].map(each => each.hidden)"
    assert browser.run(selected) == "upload"
    assert browser.run(panels) == [False, True, True, True]
    browser.run("document.getElementById('tab-1').focus()")
    browser.press("ArrowRight")
    assert browser.run(selected) == "read"
    assert browser.run(panels) == [True, False, True, True]
    browser.press("End")
    assert browser.run(selected) == "delete"
    browser.press("ArrowRight")
    assert browser.run(selected) == "upload"


def test_one_run_of_many_is_shown(opened):
    browser = opened(written("operations"))
    parts = "[...document.querySelectorAll('[data-part]')].filter(each => !each.hidden).map(each => each.dataset.key)"
    first = browser.run(parts)
    browser.run(
        "(() => { const menu = document.querySelector('[data-shows]'); menu.selectedIndex = 3;"
        " menu.dispatchEvent(new Event('change')); })()"
    )
    assert len(first) == len(browser.run(parts)) == 1
    assert browser.run(parts) != first


def test_tables_are_sorted_and_filtered(opened):
    browser = opened(written("ladder"))
    column = (
        "[...document.querySelector('#verdict-table').tBodies[0].rows].filter(each => !each.hidden)"
        ".map(each => parseFloat(each.cells[3].textContent))"
    )
    button = "document.querySelectorAll('#verdict-table th button')[3].click()"
    before = browser.run(column)
    assert len(before) == 36
    browser.run(button)
    assert browser.run(column) == sorted(before)
    browser.run(button)
    assert browser.run(column) == sorted(before, reverse=True)
    browser.run(button)
    assert browser.run(column) == before
    browser.run(
        "(() => { const menu = document.querySelector('.tools select'); menu.value = 'NO VERDICT';"
        " menu.dispatchEvent(new Event('change')); })()"
    )
    assert len(browser.run(column)) == 1
    assert browser.run("document.querySelector('.tools output').textContent") == "1 of 36 rows"


def test_a_browser_runs_nothing_that_a_target_sent(opened, view, run, valid):
    view.add([], [], [Failure("GET", ALERT, "http", ALERT, 1, 1.0, 2.0)], [CaughtException(ALERT, ALERT, 1, {0})])
    text = html(view, run, valid)
    assert opened(text).complaints == []
    # Even if something did slip through, the policy would not let it run.
    broken = opened(text.replace("</main>", "<script>document.title = 'stolen'</script></main>"))
    assert broken.run("document.title") != "stolen"
    assert any("Content Security Policy" in each for each in broken.complaints)
