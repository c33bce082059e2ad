"""Pages in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, BrowserContext, Page, Playwright

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SCREENSHOTS = Path(__file__).parents[2] / "target" / "page"
"""Where screenshots lie, for people to look at."""
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
TIMEOUT_MS = 60_000
"""ms that a page may take; a busy machine is slow, and nothing here is measured."""
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}


expect.set_options(timeout=TIMEOUT_MS)


def launch(playwright: Playwright) -> Browser:
    assert PROGRAM is not None, "Chromium is not installed (Debian: apt-get install chromium)"
    return playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox", "--disable-gpu"])


class BrowserSession:
    """Opens pages; at the end none of them must have complained, or asked any other host for anything."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        self._hosts: set[str] = set()
        self._asked: set[str] = set()

    def open(self, url: str, *, size: dict[str, int] = DESKTOP, scheme: str = "light", **settings: Any) -> Page:
        """A page of a browser that knows nothing of others. The address may be a file's."""
        context = self._browser.new_context(
            viewport=size,  # type: ignore[arg-type]
            color_scheme=scheme,  # type: ignore[arg-type]
            reduced_motion="reduce",
            **settings,
        )
        context.set_default_timeout(TIMEOUT_MS)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self._on_message(message.type, message.text))
        page.on("pageerror", lambda error: self._on_message("error", str(error)))
        page.on("request", lambda request: self._asked.add(urlsplit(request.url).netloc))
        self._hosts.add(urlsplit(url).netloc)
        page.goto(url)
        return page

    def _on_message(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(f"{kind}: {text}")

    def forgive(self, said: Callable[[str], bool]) -> None:
        """Complaints that a test means to cause."""
        self.complaints = [each for each in self.complaints if not said(each)]

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        assert not self.complaints, "\n".join(self.complaints)
        strangers = self._asked - self._hosts - {""}
        assert not strangers, f"asked other hosts: {strangers}"


def screenshot(page: Page, name: str, *, whole: bool = True) -> Path:
    """A screenshot in `PICTURES`."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=path, full_page=whole)
    return path


def accessibility(page: Page) -> list[str]:
    """What axe-core finds, each with the first element that it finds it in."""
    page.evaluate(AXE.read_text())
    result = page.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"
    )
    return [
        f"{each['id']} ({each['impact']}): {each['help']}: {each['nodes'][0]['html'][:200]}"
        for each in result["violations"]
    ]
