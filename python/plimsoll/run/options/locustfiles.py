"""Which files `-f` names: found on this machine, or downloaded."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

from plimsoll.errors import LocustfileError
from plimsoll.load.file_access import checked

DEFAULT = "locustfile.py"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
DOWNLOAD_TIMEOUT_S = 10.0
"""Seconds for each wait."""
LARGEST = 1 << 20
"""Bytes."""


def find(argument: str) -> list[Path]:
    """The files that `-f` names: one, several with commas between, or all of a folder, as absolute paths.

    ".py" may be left out. Raises LocustfileError when there is none.
    """
    found = [path for part in argument.split(",") for path in _find_one(part.strip())]
    if not found:
        raise LocustfileError(f"no .py file in {argument}")
    return found


def _find_one(argument: str) -> list[Path]:
    if argument.startswith(("http://", "https://")):
        return [download(checked(argument))]
    if argument == "-":
        raise LocustfileError("-f - goes with --worker, which gets the locustfile from its master; here name the file")
    path = checked(Path(argument).expanduser())
    if path.is_dir():
        files = (each for each in sorted(path.rglob("*.py")) if not each.name.startswith("_"))
        return [each.absolute() for each in files]
    for candidate in (path, path.with_name(path.name + ".py")):
        if candidate.is_file():
            return [candidate.absolute()]
    if argument == DEFAULT:
        where = f"no {DEFAULT} in {Path.cwd()}"
        raise LocustfileError(f"{where}; name another file with -f, or give a URL: plimsoll run http://…")
    raise LocustfileError(f"locustfile not found: {path.absolute()}")


def download(url: str) -> Path:
    """The file, in a folder of its own that goes when this process does. Raises LocustfileError."""
    # Only here: few runs need it.
    import requests

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


def is_locustfile(first: str) -> bool:
    """Whether the first word names one. Later it may be an option's value, so there a locustfile has -f before it."""
    return first.endswith(".py") and Path(first).is_file()


def is_source(argument: str) -> bool:
    """A URL of any scheme, a plan, or a file of targets."""
    if _SCHEME.match(argument):
        return True
    if argument.endswith(".toml"):
        return True
    return not argument.startswith("-") and not argument.endswith(".py") and Path(argument).is_file()
