"""Charts as files, and Markdown that links them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError
from plimsoll.report.document.study import document_of
from plimsoll.report.render.markdown import markdown
from plimsoll.report.render.pictures import png, svg
from plimsoll.report.writing import check_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.report.document.blocks import ReportDocument
    from plimsoll.report.sources import OutputRequest, StudySource


def chart_files(source: StudySource, request: OutputRequest, *, kind: str) -> Iterator[tuple[str, bytes]]:
    """(file name, content) of each chart. kind: svg or png."""
    yield from _drawn(document_of(source), kind)


def illustrated_markdown(source: StudySource, request: OutputRequest) -> Iterator[tuple[str, bytes]]:
    """Markdown with charts beside it."""
    document = document_of(source, scope="text", command=request.command)
    images = {}
    for name, content in _drawn(document, "svg"):
        images[name.removesuffix(".svg")] = name
        yield name, content
    yield "report.md", markdown(document, images=images).encode()


def markdown_part(source: StudySource, request: OutputRequest, under: int, folder: str | None, link: str | None) -> str:
    """Markdown to stand under a heading of this depth in another document.

    folder: where charts are written; None: there are none. link: the folder as that document names it.
    """
    document = document_of(source, scope="text", charts=folder is not None, command=request.command)
    images = {}
    try:
        if folder is not None:
            check_folder(Path(folder))
            Path(folder).mkdir(exist_ok=True)
            for name, content in _drawn(document, "svg"):
                (Path(folder) / name).write_bytes(content)
                images[name.removesuffix(".svg")] = f"{link}/{name}" if link not in (None, ".") else name
    except OSError as error:
        raise PlimsollError(f"cannot write {folder}: {error.strerror}") from error
    return markdown(document, under, images)


def _drawn(document: ReportDocument, kind: str) -> Iterator[tuple[str, bytes]]:
    """Without copies of charts in which something is highlighted."""
    for chart in document.charts:
        if not chart.base:
            yield f"{chart.name}.{kind}", svg(chart).encode() if kind == "svg" else png(chart)
