"""The generated parts of the documentation site.

    python -m scripts.site            write the references, then build target/docs with its llms.txt

The references of the Python names and of the fields of files come from docstrings and are committed. Tests check them.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts import fields

import plimsoll
from plimsoll.users.http.grpc import Grpc
from plimsoll.users.http.stream import Streamed

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CONFIG = ROOT / "zensical.toml"
PYTHON = DOCS / "reference" / "python.md"
OLD_NAMES = ("HttpLocust", "Locust")
"""Names from before Locust 1.0. They exist only to name their replacements."""

_HEAD = """\
# Python reference

<!-- `python -m scripts.site` writes this page from the docstrings. Do not edit it. -->

`from plimsoll import …` gives these names, and so does `from locust import …` under Plimsoll.
[From Locust](../guides/from-locust.md) says what differs; [Use it as a library](../guides/library.md) has examples.
"""


def python_reference() -> str:
    """The text of the page."""
    return "\n".join((_HEAD, *_entries()))


def _entries() -> Iterator[str]:
    for name in plimsoll.__all__:
        value = getattr(plimsoll, name)
        if name.startswith("_") or name in OLD_NAMES or inspect.ismodule(value):
            continue
        yield from _entry(f"## {name}", name, value)
        if inspect.isclass(value):
            for method, function in sorted(_methods(value)):
                yield from _entry(f"### {name}.{method}", method, function)
    # No import gives these: they are of what `client` returns, and of users.
    yield from _entry("## response.events", "events", Streamed.events)
    yield from _entry("## self.grpc", "grpc", Grpc.__call__)


def _entry(heading: str, name: str, value: Any) -> Iterator[str]:
    yield f"{heading}\n"
    yield f"```python\n{_signature(name, value)}\n```\n"
    yield f"{_prose(value)}\n"


def _methods(owner: type) -> Iterator[tuple[str, Any]]:
    """Methods with a docstring of the class itself, or of a base class without its own entry."""
    listed = [getattr(plimsoll, name) for name in plimsoll.__all__]
    for name, function in inspect.getmembers(owner, inspect.isfunction):
        home = next(each for each in owner.__mro__ if name in vars(each))
        if not name.startswith("_") and function.__doc__ and (home is owner or home not in listed):
            yield name, function


def _signature(name: str, value: Any) -> str:
    if not callable(value):
        return f"plimsoll.{name}"
    try:
        parameters = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(value)))
    except ValueError:
        parameters = "(…)"
    return f"{'class ' if inspect.isclass(value) else ''}{name}{parameters}"


def _prose(value: Any) -> str:
    """A docstring as Markdown: a block after `::` is code."""
    text = inspect.getdoc(value) or ""
    return re.sub(r"::\n\n((?:    .*\n?|\n)+)", lambda found: ":\n\n" + _code(found[1]), text).rstrip()


def _code(block: str) -> str:
    return f"```python\n{textwrap.dedent(block).strip()}\n```\n\n"


def pages(nav: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """(title, path below docs) of every page, in the order of the site."""
    for entry in nav:
        for title, target in entry.items():
            if isinstance(target, str):
                yield title, target
            else:
                yield from pages(target)


def llms() -> str:
    """llms.txt: one line for each page, for programs that read the site."""
    project = tomllib.loads(CONFIG.read_text())["project"]
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}", "", "## Pages", ""]
    lines += [f"- [{title}]({built(path)})" for title, path in pages(project["nav"])]
    return "\n".join((*lines, ""))


def built(path: str) -> str:
    """The address of a page in the site."""
    return re.sub(r"(^|/)README$", r"\1index", path.removesuffix(".md")) + ".html"


def main() -> int:
    PYTHON.write_text(python_reference())
    fields.main()
    command = [str(Path(sys.executable).parent / "zensical"), "build", "--clean", "--strict"]
    code = subprocess.call(command, cwd=ROOT)
    if code == 0:
        site = ROOT / "target" / "docs"
        (site / "llms.txt").write_text(llms())
        print(f"the site: {site / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
