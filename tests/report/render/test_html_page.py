from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from playwright.sync_api import expect
from tests.report.documents import CONTRACT
from tests.report.studies import EVIL, SAMPLES
from tests.web.browser_session import DESKTOP, PHONE, accessibility

from plimsoll.record import CaughtException, Failure
from plimsoll.record.manifest import Manifest
from plimsoll.report.document.run import run_document
from plimsoll.report.document.study import study_document
from plimsoll.report.render import html as renderer
from plimsoll.say.validity import check_texts

VOID = {"meta", "br", "hr", "img", "input", "link"}
ALERT = "</td></script></noscript><script>document.title='stolen'</script><img src=x onerror=alert(1)>"

written = functools.cache(lambda shape: renderer.written(study_document(SAMPLES[shape]())))


def html(view, run, assessment):
    return renderer.written(run_document(view, run, assessment))


class Page(HTMLParser):
    """What a page consists of, and what is wrong with the nesting of its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.words: list[str] = []
        """What is read where no script runs."""
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attributes]
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")
        if tag == "style":
            self.styles.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open:
            return
        if self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open[-1] == "style":
            self.styles[-1] += data
        elif "noscript" in self.open and data.strip():
            self.words.append(data)

    def of(self, name: str) -> list[str]:
        return [value for _, each, value in self.attributes if each == name]

    @property
    def policy(self) -> str:
        return next(value for value in self.of("content") if "default-src" in value)

    @property
    def document(self):
        return json.loads(self.scripts[0])


@pytest.mark.parametrize("shape", SAMPLES)
def test_it_needs_nothing_else(shape):
    found = Page(written(shape))
    assert found.of("href") == found.of("src") == []
    (style,) = found.styles
    assert "@import" not in style
    assert all(url.startswith(("data:", '"data:', "'data:")) for url in re.findall(r"url\((.*?)\)", style))
    assert found.policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in found.policy
    assert "http" not in found.policy


@pytest.mark.parametrize("shape", SAMPLES)
def test_only_its_own_script_may_run(shape):
    found = Page(written(shape))
    _, script = found.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in found.policy
    assert not [name for _, name, _ in found.attributes if name.startswith("on")]
    assert ("script", "type", "application/json") in found.attributes


@pytest.mark.parametrize("shape", SAMPLES)
def test_the_document_is_in_it_once(shape):
    found = Page(written(shape))
    assert ("script", "id", "document") in found.attributes
    assert [error.message for error in CONTRACT.iter_errors(found.document)] == []
    charts = found.document["charts"]
    assert charts
    data = [json.dumps(rows) for each in charts for rows in each["spec"]["datasets"].values() if len(rows) > 20]
    assert len(set(data)) == len(data), "no chart's data is there twice"


def test_without_scripts_it_says_what_is_missing_and_the_most_important(view, run, valid, invalid):
    words = Page(written("rates")).words
    document = Page(written("rates")).document
    assert words[0] == document["title"]
    assert words[1] in document["lines"]
    assert any("scripts do not run here" in each for each in words)
    blocks = [block for section in document["sections"] for block in section["blocks"]]
    doubts = next(block for block in blocks if block["type"] == "doubts")
    assert doubts["title"] in words
    assert set(doubts["lines"]) <= set(words)
    findings = next(block for block in blocks if block["type"] == "findings")["findings"]
    assert all(f"{each['word']}: {each['statement']}" in words for each in findings)
    assert any(each.startswith("new has a 32 % higher p99 than old") for each in Page(written("ladder")).words)
    text = Page(html(view, run, invalid)).words
    assert all(reason in text for reason in check_texts(invalid.validity.failed))
    assert not any("INVALID" in each for each in Page(html(view, run, valid)).words)


def test_what_a_target_is_called_is_text_and_not_markup():
    text = written("rates")
    found = Page(text)
    assert found.elements.count("script") == 2
    assert EVIL not in text
    rows = [row for each in found.document["charts"] for row in each["spec"]["datasets"].get("rows", ())]
    assert any(EVIL in row["label"] for row in rows), "in the data it is what it was"


def test_what_users_wrote_is_text_too(view, run, valid):
    view.add([], [], [Failure("GET", ALERT, "http", ALERT, 1, 1.0, 2.0)], [CaughtException(ALERT, ALERT, 1, {0})])
    run.notes = [ALERT]
    run.manifest = Manifest.from_json({**run.manifest.to_json(), "host": ALERT})
    found = Page(html(view, run, valid))
    assert found.elements.count("script") == 2
    assert "img" not in found.elements
    assert any(ALERT in each for each in found.words)
    assert ALERT in json.dumps(found.document).replace('\\"', '"')


def test_a_run_has_its_numbers(view, run, valid):
    found = Page(html(view, run, valid)).document
    numbers = next(each for each in found["sections"] if each["id"] == "numbers")
    rows = {tuple(row["cells"][:2]): row["cells"][2:5] for row in numbers["blocks"][0]["table"]["rows"]}
    assert rows["GET", "/todos"] == ["8 %", "204", "4"]
    assert rows["POST", "/todos"] == ["<1 %", "12", "4"]
    assert rows["", "Aggregated"] == ["100 %", "217", "9"]


def test_a_run_that_was_not_kept_has_a_page_too(view, valid):
    assert Page(html(view, None, valid)).words[0] == "A run that was not kept"


def test_whoever_asks_for_no_page_does_not_wait_for_what_makes_it():
    code = (
        "import sys, plimsoll.run.perform\n"
        "print([each for each in ('vl_convert', 'scipy', 'plimsoll.report.document') if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def opened(browser_session, tmp_path):
    """Opens a page from a file, as a reader does, and waits until all of it is drawn."""

    def open_page(text: str, **how):
        path = tmp_path / f"page-{len(list(tmp_path.iterdir()))}.html"
        path.write_text(text, encoding="utf-8")
        page = browser_session.open(path.as_uri(), **how)
        page.locator("html[data-drawn=all]").wait_for(state="attached")
        return page

    return open_page


@pytest.mark.long
@pytest.mark.parametrize("shape", SAMPLES)
def test_a_browser_draws_every_chart_without_asking_for_anything(browser_session, opened, tmp_path, shape):
    page = opened(written(shape))
    plots = page.locator("[data-chart]")
    assert plots.count() >= 2
    assert page.locator("[data-chart] svg.marks").count() == plots.count()
    assert page.locator(".failed").count() == 0
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0
    assert browser_session.complaints == []


@pytest.mark.long
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desk"])
@pytest.mark.parametrize("shape", ["ladder", "operations"])
def test_nothing_is_wider_than_the_window(opened, shape, size):
    page = opened(written(shape), size=size)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.long
def test_charts_follow_the_theme_without_being_drawn_again(opened):
    page = opened(written("chain"), scheme="dark")
    colour = "getComputedStyle(document.querySelector('svg.marks text')).fill"
    dark = page.evaluate(colour)
    page.evaluate("document.querySelector('svg.marks').dataset.same = 1")
    page.get_by_role("button", name=re.compile("light|dark|theme", re.IGNORECASE)).first.click()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.evaluate(colour) != dark
    assert page.locator("svg.marks[data-same]").count() == 1


@pytest.mark.long
def test_tabs_are_walked_with_the_arrow_keys(opened):
    page = opened(written("operations"))

    def selected() -> str:
        return page.get_by_role("tab", selected=True).inner_text()

    assert selected() == "upload"
    page.get_by_role("tab", name="upload").focus()
    for key, name in (("ArrowRight", "read"), ("End", "delete"), ("ArrowRight", "upload")):
        page.keyboard.press(key)
        assert selected() == name
        assert page.get_by_role("tabpanel", name=name).is_visible()
        assert page.get_by_role("tabpanel").count() == 1


@pytest.mark.long
def test_one_run_of_many_is_shown(opened):
    page = opened(written("operations"))
    charts = page.locator("#course [data-chart]")
    first, count = charts.first.get_attribute("data-chart"), charts.count()
    page.locator("#course select").select_option(index=3)
    expect(charts.first).not_to_have_attribute("data-chart", first)
    expect(charts).to_have_count(count)
    expect(page.locator("#course svg.marks")).to_have_count(count)


@pytest.mark.long
def test_tables_are_sorted_and_filtered(opened):
    page = opened(written("ladder"))
    table = page.locator("#verdicts table")

    def column() -> list[float]:
        texts = table.locator("tbody tr td:nth-child(4)").all_inner_texts()
        return [float(re.sub(r"[^\d.]", "", text)) for text in texts]

    title = table.get_by_role("columnheader").nth(3).get_by_role("button")
    before = column()
    assert len(before) == 36
    title.click()
    assert column() == sorted(before)
    title.click()
    assert column() == sorted(before, reverse=True)
    title.click()
    assert column() == before
    words = page.locator("#verdicts .tools select")
    words.select_option("NO VERDICT")
    assert table.locator("tbody tr").count() == 1
    assert page.locator("#verdicts output").inner_text() == "1 of 36 rows"
    words.select_option("")
    page.locator("#verdicts").get_by_role("searchbox").fill("comments p99")
    assert 0 < table.locator("tbody tr").count() < 36


@pytest.mark.long
def test_evidence_is_highlighted_in_a_chart_of_its_own(opened):
    page = opened(written("ladder"))
    finding = page.locator(".findings li", has_text="old: throughput follows the load")
    finding.get_by_text("Evidence", exact=True).click()
    label = finding.locator("svg.marks text", has_text="the knee lies here").first
    label.wait_for()
    assert label.is_visible()
    assert page.locator("#ladder svg.marks text", has_text="the knee lies here").count() == 0


@pytest.mark.long
def test_on_paper_everything_is_open(opened):
    page = opened(written("operations"), scheme="dark")
    panels, levels = page.get_by_role("tabpanel"), page.locator("details.level:not([open])")
    ink = "getComputedStyle(document.body).color"
    screen = page.evaluate(ink)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(panels).to_have_count(4)
    expect(levels).to_have_count(0)
    expect(page.locator(".findings details:not([open])")).to_have_count(0)
    assert page.evaluate(ink) != screen, "light, whatever it is on the screen"
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(panels).to_have_count(1)


@pytest.mark.long
@pytest.mark.parametrize(("shape", "scheme"), [("ladder", "dark"), ("chain", "light")])
def test_nobody_is_shut_out(opened, shape, scheme):
    assert accessibility(opened(written(shape), scheme=scheme)) == []


@pytest.mark.long
def test_where_no_script_runs_it_can_still_be_read(browser_session, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(written("rates"), encoding="utf-8")
    page = browser_session.open(path.as_uri(), java_script_enabled=False)
    text = page.inner_text("body")
    assert "scripts do not run here" in text
    assert "2 of 12 runs did not get the load that was asked for" in text
    assert '{"title"' not in text


@pytest.mark.long
def test_a_browser_runs_nothing_that_a_target_sent(browser_session, opened, view, run, valid):
    view.add([], [], [Failure("GET", ALERT, "http", ALERT, 1, 1.0, 2.0)], [CaughtException(ALERT, ALERT, 1, {0})])
    run.notes = [ALERT]
    text = html(view, run, valid)
    page = opened(text)
    assert page.get_by_text(ALERT).count() >= 3
    assert page.locator("img").count() == 0
    assert page.title() == "5 users · http://127.0.0.1:8000"
    assert browser_session.complaints == []
    # Even if something did slip through, the policy would not let it run.
    broken = opened(text.replace("</body>", "<script>document.title = 'stolen'</script></body>"))
    assert broken.title() != "stolen"
    assert any("Content Security Policy" in each for each in browser_session.complaints)
    browser_session.forgive(lambda said: "Content Security Policy" in said)
