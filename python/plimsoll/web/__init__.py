"""The page as it was built from `web/`: the live page's files, and the script and style sheet of a report.

`make page` builds them into this folder, and the wheel brings them along.
"""

from __future__ import annotations

import functools
from pathlib import Path

from plimsoll.errors import PlimsollError

_FOLDER = Path(__file__).parent


def report_script() -> str:
    """One classic script; may be written into a page as it is. Raises PlimsollError when the page is not built."""
    return _text("report.js")


def report_style() -> str:
    """The style sheet of a report, with the colours of its charts. Raises PlimsollError when the page is not built."""
    return _text("report.css")


def live_folder() -> Path:
    """The folder with `index.html` and `assets/` of the live page. Raises PlimsollError when the page is not built."""
    folder = _FOLDER / "live"
    if not (folder / "index.html").is_file():
        raise _not_built(folder / "index.html")
    return folder


@functools.cache
def _text(name: str) -> str:
    try:
        return (_FOLDER / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise _not_built(_FOLDER / name) from None


def _not_built(path: Path) -> PlimsollError:
    return PlimsollError(f"the page is not built: {path} is missing; `make setup` builds it (with Node 20.19 or later)")
