"""Every format that an analysis can be told in. A new one is a function here and a line in `OUTPUTS`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.stats.analysis import Analysis


@dataclass(frozen=True, slots=True)
class OutputRequest:
    """How it is to be told, beyond the format."""

    command: str = ""
    """What makes the report, for its notes."""
    width: int | None = None
    """Cells of the terminal; None: ask it."""
    colour: bool = False
    table: str = "trials"
    """Which one, in CSV."""


@dataclass(frozen=True, slots=True)
class Output:
    what: str
    """For the help, in a line."""
    suffix: str
    text: Callable[[Analysis, OutputRequest], str] | None = None
    """The whole of it as one text; None when it is several files."""
    files: Callable[[Analysis, OutputRequest], Iterator[tuple[str, bytes]]] | None = None
    """(name, content) of what goes into a folder; None when one file is all there is."""


def _text(analysis: Analysis, wish: OutputRequest) -> str:
    from plimsoll.report.analysis.build import build
    from plimsoll.report.render.console import console

    return console(build(analysis, wish.command), wish.width, colour=wish.colour) + "\n"


def _markdown(analysis: Analysis, wish: OutputRequest) -> str:
    from plimsoll.report.analysis.build import build
    from plimsoll.report.render.markdown import markdown

    return markdown(build(analysis, wish.command))


def _illustrated(analysis: Analysis, wish: OutputRequest) -> Iterator[tuple[str, bytes]]:
    """Markdown with charts beside it."""
    from plimsoll.report.analysis.build import build
    from plimsoll.report.render.markdown import markdown

    pictures = []
    for title, name, content in _charts(analysis, "svg"):
        pictures.append((title, name))
        yield name, content
    yield "report.md", markdown(build(analysis, wish.command, pictures)).encode()


def _html(analysis: Analysis, wish: OutputRequest) -> str:
    from plimsoll.report.html import page

    return page(analysis)


def _csv(analysis: Analysis, wish: OutputRequest) -> str:
    from plimsoll.report.render.analysis_csv import table

    return table(analysis, wish.table)


def _tables(analysis: Analysis, wish: OutputRequest) -> Iterator[tuple[str, bytes]]:
    from plimsoll.report.render.analysis_csv import TABLES, table

    for name in TABLES:
        yield f"{name}.csv", table(analysis, name).encode()


def _json(analysis: Analysis, wish: OutputRequest) -> str:
    from plimsoll.report.render.analysis_json import dumps

    return dumps(analysis, wish.command)


def _junit(analysis: Analysis, wish: OutputRequest) -> str:
    from plimsoll.report.render.analysis_junit import junit

    return junit(analysis)


def _github(analysis: Analysis, wish: OutputRequest) -> str:
    from plimsoll.report.render.annotations import workflow_commands

    return workflow_commands(analysis)


def _pictures(analysis: Analysis, wish: OutputRequest, *, kind: str) -> Iterator[tuple[str, bytes]]:
    for _, name, content in _charts(analysis, kind):
        yield name, content


def _charts(analysis: Analysis, kind: str) -> Iterator[tuple[str, str, bytes]]:
    """(title, file name, content) of each chart."""
    from plimsoll.report.charts import charts_of
    from plimsoll.report.render import pictures as render

    for chart in charts_of(analysis):
        content = render.svg(chart).encode() if kind == "svg" else render.png(chart)
        yield chart.title, f"{chart.name}.{kind}", content


OUTPUTS: dict[str, Output] = {
    "text": Output("tables for the terminal", "txt", _text),
    "md": Output(
        "Markdown for a wiki, a README or a comment; into a folder: with charts", "md", _markdown, _illustrated
    ),
    "html": Output("one page that needs nothing else", "html", _html),
    "csv": Output("a row per run and endpoint; see --table; into a folder: all tables", "csv", _csv, _tables),
    "json": Output("all of it, as docs/formats.md describes it", "json", _json),
    "junit": Output("JUnit XML: a test per primary comparison and per finding that blocks", "xml", _junit),
    "github": Output("annotations of GitHub Actions: ::error, ::warning, ::notice", "txt", _github),
    "svg": Output("each chart, into a folder", "svg", files=partial(_pictures, kind="svg")),
    "png": Output("each chart, into a folder", "png", files=partial(_pictures, kind="png")),
}


def by_suffix(path: str) -> str | None:
    """The format that a file's name asks for; None when it tells none."""
    suffix = Path(path).suffix.removeprefix(".").lower()
    return next((name for name in OUTPUTS if name == suffix), None)


def is_folder(path: str) -> bool:
    """A path that ends with a slash, or is a folder already."""
    return path.endswith(("/", "\\")) or Path(path).is_dir()


def write(analysis: Analysis, format: str, path: str, wish: OutputRequest) -> list[Path]:
    """Into a file, or into a folder what belongs there; what was written. Raises PlimsollError, UsageError."""
    output = OUTPUTS[format]
    place = Path(path)
    try:
        if output.text is not None and not is_folder(path):
            text = output.text(analysis, wish)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", newline="")
            return [place]
        if place.is_file():
            raise UsageError(f"{path} is a file; --format {format} writes into a folder: -o {place.stem}/")
        place.mkdir(parents=True, exist_ok=True)
        written = []
        for name, content in _contents(analysis, output, wish):
            (place / name).write_bytes(content)
            written.append(place / name)
    except OSError as error:
        raise PlimsollError(f"cannot write {path}: {error.strerror}") from error
    return written


def text(analysis: Analysis, format: str, wish: OutputRequest) -> str:
    """As one text. Raises UsageError for what is several files."""
    made = OUTPUTS[format].text
    if made is None:
        raise UsageError(f"--format {format} writes several files: say into which folder, with -o FOLDER/")
    return made(analysis, wish)


def part(analysis: Analysis, wish: OutputRequest, under: int, folder: str | None, link: str | None) -> str:
    """Markdown to stand under a heading of this depth in another document.

    folder: where charts are written; None: there are none. link: the folder as that document names it.
    """
    from plimsoll.report.analysis.build import build
    from plimsoll.report.render.markdown import markdown

    pictures = []
    try:
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            for title, name, content in _charts(analysis, "svg"):
                (Path(folder) / name).write_bytes(content)
                pictures.append((title, f"{link}/{name}" if link not in (None, ".") else name))
    except OSError as error:
        raise PlimsollError(f"cannot write {folder}: {error.strerror}") from error
    return markdown(build(analysis, wish.command, pictures), under)


def _contents(analysis: Analysis, output: Output, wish: OutputRequest) -> Iterator[tuple[str, bytes]]:
    if output.files is not None:
        yield from output.files(analysis, wish)
    elif output.text is not None:
        yield f"report.{output.suffix}", output.text(analysis, wish).encode()
