"""The live page for everybody: by rule (axe-core), in the dark, on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.web.driving import start, tab
from tests.web.sight import DESK, PHONE, accessibility, picture

if TYPE_CHECKING:
    from tests.web.served import Served
    from tests.web.sight import Sight


@pytest.mark.parametrize(
    ("name", "size", "scheme", "tabs"),
    [
        ("dark", DESK, "dark", ("Overview", "Statistics", "Charts")),
        ("phone", PHONE, "light", ("Overview", "Statistics", "Charts", "Failures", "Tasks", "Log")),
    ],
)
def test_it_is_accessible_in_the_dark_and_on_a_phone(
    started: Served, sight: Sight, name: str, size: dict[str, int], scheme: str, tabs: tuple[str, ...]
) -> None:
    page = sight.open(started.url, scheme=scheme, size=size)
    form = page.locator("form.start")
    expect(form).to_be_visible()
    for each in form.locator("summary").all():
        each.click()
    picture(page, f"form-{name}")
    assert accessibility(page) == []
    start(page)
    expect(page.locator("svg.marks").first).to_be_visible()
    for each in tabs:
        tab(page, each)
        expect(page.get_by_role("tabpanel")).to_be_visible()
        picture(page, f"live-{each.lower()}-{name}")
        assert accessibility(page) == [], each
        width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert width == 0, f"{each} makes the page scroll sideways"
