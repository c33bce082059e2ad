"""Takes the pictures of the documentation from a real run: `python -m scripts.pictures` writes docs/pictures/.

Starts the todos lab, loads it with the users of the guide's first run, and takes the page and the report of that run
with a headless Chromium, in light and dark.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
GUIDE = ROOT / "docs" / "guides" / "first-run.md"
PLIMSOLL = str(Path(sys.executable).parent / "plimsoll")
SIZE = {"width": 1280, "height": 800}
SCHEMES = ("light", "dark")
LENGTH_S = 40
LOOK_MS = 25_000
"""Time in the run at which the picture of the page is taken, ms."""


def main() -> int:
    PICTURES.mkdir(exist_ok=True)
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("Chromium is not installed (Debian: apt-get install chromium)")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(prefix="plimsoll-pictures-") as folder:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        command = [sys.executable, "-m", "labs.todos.lab"]
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as lab:
            assert lab.stdout is not None
            url = lab.stdout.readline().split()[2]
            take_run(browser, url, Path(folder))
            lab.terminate()
        subprocess.run([PLIMSOLL, "report", "last", "--format", "html", "-o", "report.html"], cwd=folder, check=True)
        for scheme in SCHEMES:
            page = opened(browser, (Path(folder) / "report.html").as_uri(), scheme)
            save(page, f"report-{scheme}")
    return 0


def take_run(browser: Browser, url: str, folder: Path) -> None:
    """Load the service, and take the picture of the page during the run."""
    locustfile = re.search(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert locustfile is not None
    (folder / "locustfile.py").write_text(locustfile[1])
    command = [PLIMSOLL, "run", "-H", url, "-u", "10", "-r", "10", "-t", f"{LENGTH_S}s", "--web-port", "0"]
    command += ["--autostart", "--autoquit", "0", "--threshold", "p99 < 500ms"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        address = next(found[0] for line in run.stderr if (found := re.search(r"https?://\S+", line)))
        pages = {scheme: opened(browser, address, scheme) for scheme in SCHEMES}
        pages["light"].wait_for_timeout(LOOK_MS)
        for scheme, page in pages.items():
            save(page, f"page-{scheme}")
            page.context.close()
        run.stderr.read()


def opened(browser: Browser, address: str, scheme: str) -> Page:
    context = browser.new_context(
        viewport=SIZE,  # type: ignore[arg-type]
        color_scheme=scheme,  # type: ignore[arg-type]
        device_scale_factor=1.5,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_load_state("load")
    return page


def save(page: Page, name: str) -> None:
    page.bring_to_front()
    page.screenshot(path=PICTURES / f"{name}.png")
    print(PICTURES / f"{name}.png")


if __name__ == "__main__":
    sys.exit(main())
