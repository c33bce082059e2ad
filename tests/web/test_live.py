"""The live page in a browser, on a real run: start, watch, edit, stop, report."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.web.browser_session import accessibility, screenshot
from tests.web.live_page import LOCUSTFILE, field, start, state, stop, tab

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from tests.command import Command, CountingTarget
    from tests.web.browser_session import BrowserSession
    from tests.web.page_command import PageCommand

pytestmark = pytest.mark.long


def test_start_watch_edit_stop_and_report(
    started: PageCommand, target: CountingTarget, browser_session: BrowserSession, plimsoll: Command
) -> None:
    page = browser_session.open(started.url)
    expect(page.get_by_role("heading", name="New run")).to_be_visible()
    assert field(page, "Users").input_value() == "6"
    assert "hidden-in-the-file" not in page.content()
    screenshot(page, "form")
    assert accessibility(page) == []
    field(page, "Users").fill("3")
    start(page)
    expect(page.get_by_text("GET /look green").first).to_be_visible()
    for question in ("Is the target healthy?", "Is this computer fast enough?", "What is the bottleneck?"):
        card = page.get_by_role("region", name=question)
        expect(card).to_be_visible()
        box = card.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 800, "it answers without scrolling"
    expect(page.get_by_role("region", name="Is the target healthy?")).to_contain_text("fail", ignore_case=True)
    page.get_by_role("button", name="Edit load").click()
    form = page.get_by_role("form", name="Edit load")
    form.get_by_role("textbox", name="Users", exact=True).fill("9")
    form.get_by_role("button", name="Change load").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("· 9 users ·")
    expect(page).to_have_title(re.compile("^locustfile.py · 9 users · http://"))
    plot = page.locator(".plot").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".tip")).to_contain_text("p99")
    expect(page.locator(".crosshair")).to_have_count(4)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 40, box["y"] + box["height"] / 2)
    page.mouse.up()
    expect(page.get_by_role("button", name="Show all")).to_have_count(4)
    page.get_by_role("button", name="Show all").first.click()
    expect(page.get_by_role("button", name="Show all")).to_have_count(0)
    page.get_by_role("button", name="p99", exact=True).click()
    expect(page.get_by_role("button", name="p99", exact=True)).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="1 min").click()
    # Nothing is half below the tabs, which stay in view.
    page.evaluate("scrollTo(0, 0)")
    screenshot(page, "live")
    assert accessibility(page) == []
    stop(page)
    page.get_by_role("link", name="Report").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("GET", exact=True).first).to_be_visible()
    screenshot(page, "run")
    stored = plimsoll.stored()
    requests, cancelled = stored["total"]["requests"], stored["total"]["unanswered"]
    assert requests <= target.total <= requests + cancelled, "what the stop cut off may have arrived"
    assert started.interrupt() == 1, "there were failures"


def test_every_tab_shows_its_part(started: PageCommand, browser_session: BrowserSession) -> None:
    page = browser_session.open(started.url)
    page.get_by_text("Options of the locustfile").click()
    page.get_by_role("combobox", name=re.compile("colour")).select_option("red")
    start(page)
    tab(page, "Statistics")
    expect(page.get_by_role("row", name="/look red")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("Aggregated"))).to_be_visible()
    tab(page, "Failures")
    expect(page.get_by_role("tabpanel")).to_contain_text("/fail/buy")
    expect(page.get_by_role("tabpanel")).to_contain_text("500")
    tab(page, "Exceptions")
    expect(page.get_by_role("tabpanel")).to_contain_text("seeing red")
    tab(page, "Tasks")
    expect(page.get_by_role("tabpanel")).to_contain_text("Auditor")
    tab(page, "Workers")
    expect(page.get_by_role("tabpanel")).to_contain_text("0")
    tab(page, "Log")
    expect(page.get_by_role("log")).to_contain_text("Ramping to 6 users")
    tab(page, "Downloads")
    expect(page.get_by_role("tabpanel").get_by_role("link").first).to_be_visible()
    tab(page, "Charts")
    expect(page.get_by_role("tabpanel").locator("svg").first).to_be_visible()
    page.reload()
    expect(page.get_by_role("tab", selected=True)).to_have_text(re.compile("^Charts"))


def test_a_second_viewer_and_a_reload_see_the_same(started: PageCommand, browser_session: BrowserSession) -> None:
    page = browser_session.open(started.url)
    start(page)
    other = browser_session.open(started.url)
    expect(state(other)).to_have_text("Running")
    stop(page)
    expect(state(other)).to_have_text("Stopped")
    page.reload()
    expect(state(page)).to_have_text("Stopped")
    counts = [each.get_by_role("row", name=re.compile("Aggregated")).first.inner_text() for each in _stats(page, other)]
    assert counts[0] == counts[1]


def _stats(*pages: Page) -> list[Page]:
    for page in pages:
        tab(page, "Statistics")
        expect(page.get_by_role("row", name=re.compile("Aggregated")).first).to_be_visible()
    return list(pages)


def test_a_lost_connection_is_told_and_comes_back(started: PageCommand, browser_session: BrowserSession) -> None:
    page = browser_session.open(started.url)
    start(page)
    # It stands still, and what it had to say does not come.
    started.process.send_signal(signal.SIGSTOP)
    expect(page.locator(".connection")).to_have_text("Connection lost")
    expect(page.locator(".banner")).to_contain_text("reconnects")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_disabled()
    expect(state(page)).to_have_text("Connection lost")
    screenshot(page, "lost")
    started.process.send_signal(signal.SIGCONT)
    expect(page.locator(".connection")).to_have_text("Connected")
    # Without the coordinator for 3 s, the workers have ended the load.
    expect(state(page)).to_have_text(re.compile("Running|Failed"))


def test_the_end_of_the_process_is_told(started: PageCommand, browser_session: BrowserSession) -> None:
    page = browser_session.open(started.url)
    start(page)
    started.interrupt()
    expect(page.locator(".connection")).to_have_text("Process ended")
    expect(page.locator(".banner")).to_contain_text("plimsoll serve")
    browser_session.forgive(lambda said: "ERR_CONNECTION_REFUSED" in said)


def test_after_a_run_of_a_url_the_page_stays_while_somebody_looks(
    target: CountingTarget, serve: Callable[..., PageCommand], browser_session: BrowserSession
) -> None:
    served = serve("run", f"{target.url}/look", "--rate", "10/s")
    page = browser_session.open(served.url)
    expect(state(page)).to_have_text("Running")
    stop(page)
    expect(page.get_by_role("link", name="Report")).to_be_visible()
    page.reload()
    expect(state(page)).to_have_text("Stopped")
    assert served.process.poll() is None
    page.get_by_role("link", name="Runs").click()
    expect(page.get_by_role("link", name=re.compile("look")).first).to_be_visible()
    page.close()
    assert served.wait() in (0, 3)


def test_the_page_says_so_when_the_process_is_gone_also_among_the_runs(
    started: PageCommand, browser_session: BrowserSession
) -> None:
    page = browser_session.open(started.url)
    expect(page.get_by_role("heading", name="New run")).to_be_visible()
    started.process.kill()
    expect(page.locator(".connection")).to_have_text("Connection lost")
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_disabled()
    page.get_by_role("link", name="Runs").click()
    expect(page.get_by_role("alert")).to_contain_text("Plimsoll does not answer")
    browser_session.forgive(lambda said: "ERR_" in said)


def test_what_is_wrong_in_the_form_stands_at_its_field(
    started: PageCommand, target: CountingTarget, browser_session: BrowserSession
) -> None:
    page = browser_session.open(started.url)
    field(page, "Run time").fill("soon")
    page.get_by_role("button", name="Start", exact=True).click()
    alert = page.get_by_role("alert")
    expect(alert).to_be_focused()
    expect(alert).to_contain_text("soon")
    assert field(page, "Run time").get_attribute("aria-invalid") == "true"
    screenshot(page, "form-error")
    assert target.total == 0
    browser_session.forgive(lambda said: "400" in said)


def test_a_locustfile_that_does_not_load_is_told_and_read_again(
    plimsoll: Command, target: CountingTarget, serve: Callable[..., PageCommand], browser_session: BrowserSession
) -> None:
    plimsoll.write("from locust import HttpUser, task\nclass Broken(HttpUser:\n")
    served = serve("run", "-f", "locustfile.py", "-H", target.url)
    page = browser_session.open(served.url)
    expect(page.get_by_text("locustfile.py").first).to_be_visible()
    expect(page.get_by_text(re.compile("SyntaxError|was never closed|invalid syntax")).first).to_be_visible()
    plimsoll.write(LOCUSTFILE)
    page.reload()
    start(page)


def test_the_numbers_can_be_reset(
    started: PageCommand, browser_session: BrowserSession, target: CountingTarget, plimsoll: Command
) -> None:
    page = browser_session.open(started.url)
    start(page)
    page.get_by_role("button", name="Reset numbers").click()
    page.get_by_role("button", name="Reset numbers now").click()
    expect(page.get_by_text(re.compile("left out")).first).to_be_visible()
    stop(page)
    stored = plimsoll.stored()
    assert 0 < stored["total"]["requests"] < target.total


def test_an_arrival_rate_is_started_and_changed(
    started: PageCommand, browser_session: BrowserSession, plimsoll: Command
) -> None:
    page = browser_session.open(started.url)
    page.get_by_role("radio", name=re.compile("Arrival rate")).check()
    field(page, "Arrivals").fill("20/s")
    start(page)
    page.get_by_role("button", name="Edit load").click()
    form = page.get_by_role("form", name="Edit load")
    form.get_by_role("textbox").first.fill("60/s")
    form.get_by_role("button", name="Change load").click()
    # More than 20/s ever give within a second.
    page.wait_for_function("async () => (await (await fetch('stats/requests')).json()).total_rps > 25", timeout=60_000)
    stop(page)
    assert plimsoll.stored()["run"]["manifest"]["model"] == "open"
