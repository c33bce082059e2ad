"""A recording that is dropped on the page in a browser becomes a scenario that is proven and run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.sources.proof.recordings import har
from tests.sources.recording_target import Answer, Received, target
from tests.sources.shop import FILES
from tests.web.browser_session import PHONE, accessibility, screenshot
from tests.web.live_page import LOCUSTFILE, field, start, stop

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.command import Command
    from tests.web.browser_session import BrowserSession
    from tests.web.page_command import PageCommand

pytestmark = pytest.mark.long

DROP = """([zone, name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  zone.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


def reply(request: Received) -> Answer:
    return Answer(body={"id": 7} if request.method == "POST" else {"title": "milk"})


def test_a_dropped_recording_is_shown_proven_used_and_run(
    plimsoll: Command, serve: Callable[..., PageCommand], browser_session: BrowserSession
) -> None:
    plimsoll.write(LOCUSTFILE)
    served = serve("run", "-f", "locustfile.py", "-H", "http://127.0.0.1:1")
    with target(reply) as service:
        page = browser_session.open(served.url)
        zone = page.locator(".drop")
        expect(zone).to_be_visible()
        screenshot(page, "scenario-empty")
        zone.evaluate("(zone, rest) => (" + DROP + ")([zone, ...rest])", ["todos.har", "{"])
        expect(page.get_by_text("todos.har:1:2: not JSON")).to_be_visible()
        browser_session.forgive(lambda said: "400 (Bad Request)" in said)
        text = har(
            service.url,
            ("POST", "/todos", "title=milk", 200, '{"id": 7}'),
            ("GET", "/todos", "", 200, '{"name": "milk"}'),
        )
        zone.evaluate("(zone, rest) => (" + DROP + ")([zone, ...rest])", ["todos.har", text])
        expect(page.get_by_role("heading", name="todos.har")).to_be_visible()
        expect(page.get_by_text("2 steps of 2 requests.").first).to_be_visible()
        assert service.received == [], "nothing is sent without being asked for"
        page.get_by_role("button", name="Prove it").click()
        expect(page.get_by_text("Proof: 1 of 2 steps proven by one user.").first).to_be_visible()
        expect(page.get_by_role("row").filter(has_text="POST")).to_contain_text("proven")
        expect(page.get_by_role("row").filter(has_text="GET")).to_contain_text("differs")
        screenshot(page, "scenario-proven")
        assert accessibility(page) == []
        with page.expect_download() as download:
            page.get_by_role("button", name="Download the plan").click()
        assert download.value.suggested_filename == "todos.toml"
        assert f'target = "{service.url}"' in download.value.path().read_text()
        page.get_by_role("button", name="Use it").click()
        expect(page.get_by_text("Runs are of todos.toml.")).to_be_visible()
        field(page, "Users").fill("3")
        start(page)
        expect(page.get_by_role("heading", level=1)).to_contain_text("todos · 3 users")
        expect(page.get_by_text("POST /todos").first).to_be_visible()
        stop(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_pasted_command_is_read_on_a_narrow_screen(
    plimsoll: Command, serve: Callable[..., PageCommand], browser_session: BrowserSession, scheme: str
) -> None:
    plimsoll.write(LOCUSTFILE)
    page = browser_session.open(
        serve("run", "-f", "locustfile.py", "-H", "http://127.0.0.1:1").url, size=PHONE, scheme=scheme
    )
    page.get_by_text("Paste a text, or give values of variables").click()
    page.get_by_role("textbox", name="Text", exact=True).fill("curl http://127.0.0.1:1/a/" + "long" * 30)
    page.get_by_role("button", name="Read the text").click()
    expect(page.get_by_text("1 step of 1 request.").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than the screen"
    screenshot(page, f"scenario-narrow-{scheme}")
    assert accessibility(page) == []


DROP_ALL = """(zone, files) => {
  const data = new DataTransfer();
  for (const [name, text] of files) data.items.add(new File([text], name));
  zone.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


@pytest.mark.parametrize("size", [PHONE, {"width": 1440, "height": 900}], ids=["narrow", "wide"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_two_recordings_that_are_dropped_together_are_compared(
    plimsoll: Command, serve: Callable[..., PageCommand], browser_session: BrowserSession, scheme: str,
    size: dict[str, int],
) -> None:  # fmt: skip
    plimsoll.write(LOCUSTFILE)
    served = serve("run", "-f", "locustfile.py", "-H", "http://127.0.0.1:1")
    page = browser_session.open(served.url, size=size, scheme=scheme)
    zone = page.locator(".drop")
    expect(zone).to_be_visible()
    recordings = [[name, (FILES / name).read_text()] for name in ("shop-1.har", "shop-2.har")]
    zone.evaluate(DROP_ALL, [*recordings, recordings[0]])
    expect(page.get_by_text("3 files: drop one, or two recordings of the same flow")).to_be_visible()
    zone.evaluate(DROP_ALL, [recordings[0], ["commands.sh", "curl http://127.0.0.1/"]])
    expect(page.get_by_text("commands.sh: has no replies, so it cannot be compared with another file")).to_be_visible()
    screenshot(page, f"scenario-two-refused-{scheme}-{size['width']}")
    browser_session.forgive(lambda said: "400 (Bad Request)" in said)
    zone.evaluate(DROP_ALL, recordings)
    expect(page.get_by_role("heading", name="shop-1.har and shop-2.har")).to_be_visible()
    expect(page.get_by_text("7 steps of 10 requests; 6 values taken from replies").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than the screen"
    screenshot(page, f"scenario-two-{scheme}-{size['width']}")
    assert accessibility(page) == []
