"""The pages of what was run before, in a browser: `plimsoll serve`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.web.browser_session import PHONE, accessibility, screenshot

from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.command import Command, CountingTarget
    from tests.web.browser_session import BrowserSession
    from tests.web.page_command import PageCommand

pytestmark = pytest.mark.long


VERDICT = re.compile("one run each|invalid", re.IGNORECASE)
"""A machine that is busy with other things makes runs invalid, and the page says so."""


@pytest.fixture
def two_runs(plimsoll: Command, target: CountingTarget) -> list[str]:
    """Ids, the older first."""
    for name in ("before", "after"):
        what = ("run", f"{target.url}/look", "--headless", "--name", name)
        done = plimsoll(*what, "-u", "4", "-t", "2s", "--store", str(plimsoll.store))
        assert done.code == 0, done
    with Store.open(str(plimsoll.store)) as store:
        return [run.id for run in reversed(store.runs())]


def test_runs_are_listed_labelled_found_and_compared(
    two_runs: list[str], plimsoll: Command, serve: Callable[..., PageCommand], browser_session: BrowserSession
) -> None:
    served = serve("serve")
    page = browser_session.open(served.url)
    expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    for name in ("before", "after"):
        expect(page.get_by_role("link", name=re.compile(name)).first).to_be_visible()
    screenshot(page, "runs")
    assert accessibility(page) == []
    page.get_by_role("searchbox").first.fill("before")
    expect(page.get_by_role("link", name=re.compile("after"))).to_have_count(0)
    page.get_by_role("searchbox").first.fill("")
    expect(page.get_by_role("link", name=re.compile("after")).first).to_be_visible()
    for box in page.get_by_role("checkbox").all()[:2]:
        box.check()
    page.get_by_role("link", name=re.compile("Compare")).or_(
        page.get_by_role("button", name=re.compile("Compare"))
    ).first.click()
    expect(page.get_by_role("main")).to_contain_text(VERDICT)
    if "INVALID" not in page.get_by_role("main").inner_text():
        # Numbers that must not be used are not drawn; what shows a finding is folded until somebody asks for it.
        expect(page.locator("svg.marks:visible").first).to_be_visible()
    screenshot(page, "compare")
    assert accessibility(page) == []
    page.reload()
    expect(page.get_by_role("main")).to_contain_text(VERDICT)
    assert served.interrupt() == 0


@pytest.mark.parametrize(("name", "settings"), [("dark", {"scheme": "dark"}), ("phone", {"size": PHONE})])
def test_the_pages_are_accessible_in_the_dark_and_on_a_phone(
    two_runs: list[str],
    serve: Callable[..., PageCommand],
    browser_session: BrowserSession,
    name: str,
    settings: dict[str, object],
) -> None:
    served = serve("serve")
    page = browser_session.open(served.url, **settings)  # type: ignore[arg-type]
    places = {
        "runs": ("#/runs", "before"),
        "run": (f"#/runs/{two_runs[0]}", "How to read this"),
        "experiments": ("#/experiments", "plimsoll experiment"),
        "trend": ("#/trend", "10"),
    }
    for title, (place, text) in places.items():
        page.goto(f"{served.url}/{place}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_role("main").get_by_text(re.compile(text)).first).to_be_visible()
        screenshot(page, f"{title}-{name}")
        assert accessibility(page) == [], title
        width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert width == 0, f"{title} makes the page scroll sideways"
