"""How much does an open page cost the load? `python -m benches.page [--pairs 8] [--window 5]`

One run of a trivial locustfile at a rate against nginx. A real browser shows its page in every other window (without,
with, with, without, …). The load has a fixed rate, because the browser shares nginx's processor: in the closed model,
slower responses would cost more each. Compares the CPU per request of the workers, and of everything, as a ratio with
its 95 % interval over the pairs. Also measures how soon the page paints, with that load, and of an idle `plimsoll
serve`. Prints a table and writes benches/results/page-<time>.json. The exit status is 1 if the measurement failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from . import machine
from .cost import Cost, wait_for_connections, weigh
from .errors import BenchError
from .nginx import Nginx, running_nginx
from .process import SERVER_CPU, Measured
from .results import FOLDER
from .rounds import Ratio
from .subjects import PLIMSOLL
from .table import table

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

SCHEMA = "plimsoll.page-bench/2"
BAR = 0.02
"""Limit of the change that an open page causes in the workers' CPU per request."""
PAINT_BAR_MS = 300.0
USERS = 50
RATE = 15_000
"""Arrivals per second: nginx and the generator have reserves."""
SETTLE_SECONDS = 2.0
LONGER = 60
"""Seconds that the run lasts longer than its windows, for the start of the browser and in reserve."""
PATIENCE = 30.0
IDLE_PAINTS = 8
VIEWPORT: ViewportSize = {"width": 1280, "height": 800}
TRIVIAL = Path(__file__).resolve().parent / "locustfiles" / "trivial.py"


@dataclass(frozen=True)
class Window:
    """A part of the run. is_open: a browser showed the page."""

    is_open: bool
    cost: Cost


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.page", description=__doc__)
    parser.add_argument("--pairs", type=int, default=8, help="of windows; 8 by default")
    parser.add_argument("--window", type=float, default=5.0, help="seconds; 5 by default")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {SERVER_CPU})  # this process and the browser: on the server's CPU, not on the generator's
    started = datetime.now().isoformat(timespec="seconds")
    try:
        with running_nginx() as nginx:
            windows, paints, idle = measure(nginx, arguments.pairs, arguments.window)
    except BenchError as error:
        sys.exit(f"benches.page: {error}")
    print(render(windows, paints, idle))
    document = {
        "schema": SCHEMA,
        "started": started,
        "machine": machine.facts(),
        "window": arguments.window,
        "windows": [asdict(each) for each in windows],
        "first_paint_ms": {"beside the load": paints, "idle": idle},
    }
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"page-{started.replace(':', '')}.json"
    path.write_text(json.dumps(document, indent=2))
    print(f"written to {path}")
    return 0


def measure(nginx: Nginx, pairs: int, window: float) -> tuple[list[Window], list[float], list[float]]:
    """The windows in order, and first paints in ms, with and without load. Raises BenchError."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise BenchError("Chromium is not installed (Debian: apt-get install chromium)")
    seconds = round(2 * pairs * (window + SETTLE_SECONDS) + LONGER)
    windows: list[Window] = []
    paints: list[float] = []
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        store = str(Path(folder) / "plimsoll.db")
        command = [
            str(PLIMSOLL), "run", "-f", str(TRIVIAL), "TrivialHttp", "-H", nginx.url,
            "--rate", f"{RATE}/s", "--max-users", str(USERS), "-t", f"{seconds}s", "--autostart", "--autoquit", "0",
            "--web-port", "0", "--only-summary", "--exit-code-on-invalid", "0",
            "--store", store,
        ]  # fmt: skip
        with Measured(command, {"BENCH_PATH": "/small"}) as generator:
            wait_for_connections(nginx, generator, 1)
            address = _address(generator)
            for pair in range(pairs):
                order = (False, True) if pair % 2 == 0 else (True, False)
                for is_open in order:
                    windows.append(_window(nginx, generator, browser, address, is_open, window, paints))
        with Measured([str(PLIMSOLL), "serve", "--web-port", "0", "--store", store], {}) as server:
            address = _address(server)
            idle = [_paint(browser, address) for _ in range(IDLE_PAINTS)]
        browser.close()
    return windows, paints, idle


def _paint(browser: Browser, address: str) -> float:
    """ms, of a browser with an empty cache."""
    page = browser.new_page(viewport=VIEWPORT)
    page.goto(address)
    page.get_by_role("heading", level=1).wait_for()
    found = _first_paint(page)
    page.close()
    return found


def _first_paint(page: Page) -> float:
    return float(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))


def _address(generator: Measured) -> str:
    deadline = time.monotonic() + PATIENCE
    while not (found := re.search(r"the page: (\S+)", generator.output())):
        if time.monotonic() > deadline:
            raise BenchError(f"it has not said where its page is:\n{generator.output()}")
        time.sleep(0.05)
    return found[1]


def _window(
    nginx: Nginx,
    generator: Measured,
    browser: Browser,
    address: str,
    is_open: bool,
    seconds: float,
    paints: list[float],
) -> Window:
    if not is_open:
        time.sleep(SETTLE_SECONDS)
        return Window(False, weigh(nginx, generator, 1, seconds))
    page = browser.new_page(viewport=VIEWPORT)
    page.goto(address)
    page.get_by_role("button", name="Stop").wait_for()
    paints.append(_first_paint(page))
    time.sleep(SETTLE_SECONDS)
    found = Window(True, weigh(nginx, generator, 1, seconds))
    page.close()
    return found


def ratio(windows: list[Window], of: str) -> Ratio:
    """With an open page ÷ without, over pairs of adjacent windows. of: a field of Cost."""
    pairs = []
    for one, other in zip(windows[::2], windows[1::2], strict=True):
        with_page, without = (one, other) if one.is_open else (other, one)
        pairs.append((getattr(with_page.cost, of), getattr(without.cost, of)))
    return Ratio.of(pairs)


def render(windows: list[Window], paints: list[float], idle: list[float]) -> str:
    rows = []
    for title, of in (("workers", "workers_us"), ("workers and coordinator, which serves the page", "cpu_us")):
        medians = [
            statistics.median(getattr(each.cost, of) for each in windows if each.is_open == is_open)
            for is_open in (False, True)
        ]
        rows.append((title, *(f"{each:.2f}" for each in medians), str(ratio(windows, of))))
    workers = ratio(windows, "workers_us")
    holds = "holds" if workers.high <= 1 + BAR else "MISSED" if workers.low > 1 + BAR else "undecided"
    return "\n".join(
        [
            table(["µs CPU per request", "no page", "open page", "ratio"], rows),
            "",
            f"bar: workers at most ×{1 + BAR:.2f}: {holds} ({len(windows) // 2} pairs)",
            f"first paint beside the load: {_spread(paints)}",
            f"first paint without: {_spread(idle)} (bar {PAINT_BAR_MS:.0f} ms)",
        ]
    )


def _spread(times: list[float]) -> str:
    return f"median {statistics.median(times):.0f} ms, most {max(times):.0f} ms of {len(times)}"


if __name__ == "__main__":
    sys.exit(main())
