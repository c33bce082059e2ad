"""The live page for everybody: by rule (axe-core), in the dark, on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.web.browser_session import DESKTOP, PHONE, accessibility, screenshot
from tests.web.live_page import start, tab

if TYPE_CHECKING:
    from tests.web.browser_session import BrowserSession
    from tests.web.page_command import PageCommand

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("name", "size", "scheme", "tabs"),
    [
        ("dark", DESKTOP, "dark", ("Overview", "Statistics", "Charts")),
        ("phone", PHONE, "light", ("Overview", "Statistics", "Charts", "Failures", "Tasks", "Log")),
    ],
)
def test_it_is_accessible_in_the_dark_and_on_a_phone(
    started: PageCommand,
    browser_session: BrowserSession,
    name: str,
    size: dict[str, int],
    scheme: str,
    tabs: tuple[str, ...],
) -> None:
    page = browser_session.open(started.url, scheme=scheme, size=size)
    form = page.locator("form.start")
    expect(form).to_be_visible()
    for each in form.locator("summary").all():
        each.click()
    screenshot(page, f"form-{name}")
    assert accessibility(page) == []
    start(page)
    expect(page.locator("svg.marks").first).to_be_visible()
    for each in tabs:
        tab(page, each)
        expect(page.get_by_role("tabpanel")).to_be_visible()
        screenshot(page, f"live-{each.lower()}-{name}")
        assert accessibility(page) == [], each
        width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert width == 0, f"{each} makes the page scroll sideways"
