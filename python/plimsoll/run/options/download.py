"""A locustfile that is named by its URL."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

import requests

from plimsoll.errors import LocustfileError

DOWNLOAD_TIMEOUT_S = 10.0
"""Seconds for each wait."""
LARGEST = 1 << 20
"""Bytes."""


def download(url: str) -> Path:
    """The file, in a folder of its own that goes when this process does. Raises LocustfileError."""
    try:
        with requests.get(url, timeout=DOWNLOAD_TIMEOUT_S, stream=True) as response:
            response.raise_for_status()
            data = b""
            for piece in response.iter_content(1 << 16):
                data += piece
                if len(data) > LARGEST:
                    raise LocustfileError(f"-f {url}: more than {LARGEST} bytes; that is no locustfile")
    except requests.RequestException as error:
        raise LocustfileError(f"-f {url}: {error}") from error
    folder = Path(tempfile.mkdtemp(prefix="plimsoll-locustfile-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    name = Path(unquote(urlsplit(url).path)).name
    path = folder / (name if name.endswith(".py") else f"{name or 'locustfile'}.py")
    path.write_bytes(data)
    return path
