"""Thousands of endpoints in the live page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.web.browser_session import accessibility, screenshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.command import Command, CountingTarget
    from tests.web.browser_session import BrowserSession
    from tests.web.page_command import PageCommand

pytestmark = pytest.mark.long

ENDPOINTS = 2000
LOCUSTFILE = f"""
import itertools
from locust import HttpUser, constant, task

numbers = itertools.cycle(range({ENDPOINTS}))

class Visitor(HttpUser):
    wait_time = constant(0)

    @task
    def visit(self):
        self.client.get("/x", name=f"/page/{{next(numbers):04}}")
"""


def test_two_thousand_endpoints_are_listed_sorted_and_found(
    plimsoll: Command, target: CountingTarget, serve: Callable[..., PageCommand], browser_session: BrowserSession
) -> None:
    plimsoll.write(LOCUSTFILE)
    served = serve("run", "-f", "locustfile.py", "-H", target.url, "-u", "4", "-r", "4", "--autostart")
    page = browser_session.open(f"{served.url}/#/?tab=statistics")
    asked = f"async () => (await (await fetch('stats/requests')).json()).stats.at(-1).num_requests > {2 * ENDPOINTS}"
    page.wait_for_function(asked, timeout=120_000)
    expect(page.get_by_role("tab", name=re.compile("^Statistics"))).to_contain_text("2")
    rows = page.get_by_role("tabpanel").locator("tbody tr")
    expect(rows.first).to_be_visible()
    assert rows.count() < 200, "only what is seen is in the document"
    expect(page.get_by_role("tabpanel")).to_contain_text(f"a row is up to {ENDPOINTS // 200} s old")
    page.get_by_role("searchbox").first.fill("1987")
    expect(page.get_by_role("row", name="/page/1987")).to_be_visible()
    expect(page.get_by_role("row", name="/page/1986")).to_have_count(0)
    page.get_by_role("searchbox").first.fill("")
    head = page.get_by_role("columnheader", name=re.compile("^(Endpoint|Name)")).first
    head.get_by_role("button").click()
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(page.get_by_role("row", name="/page/1999")).to_be_visible()
    # The page keeps up: a frame is drawn while numbers come in, again and again.
    frames = page.evaluate(
        """() => new Promise((done) => {
            const times = []; let last = performance.now();
            const next = (now) => {
                times.push(now - last);
                last = now;
                times.length < 120 ? requestAnimationFrame(next) : done(times);
            };
            requestAnimationFrame(next);
        })"""
    )
    assert sorted(frames)[len(frames) // 2] < 200, f"half of the frames took over 200 ms: {sorted(frames)[-5:]}"
    screenshot(page, "many", whole=False)
    assert accessibility(page) == []
    served.interrupt()
