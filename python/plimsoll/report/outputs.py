"""Reports into files and folders, in any of the formats."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.report.formats import all_formats, of_studies
from plimsoll.report.sources import OutputRequest, RunSource, StudySource
from plimsoll.report.writing import check_folder, replaced_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.report.formats import Content


def by_suffix(path: str) -> str | None:
    """The format of studies that a file's name asks for; None when it has no ending, or an unknown one."""
    name = Path(path).name.lower()
    return next((format for ending, format in endings().items() if name.endswith(f".{ending}")), None)


def endings() -> dict[str, str]:
    """Formats of studies by the endings of files that ask for them. Where formats share an ending, it is the first."""
    rows = all_formats()
    files = [name for name in of_studies() if rows[name].study is not None]
    formats = {rows[name].suffix: name for name in reversed(files)} | {name: name for name in of_studies()}
    # .bmf.json before .json
    return dict(sorted(formats.items(), key=lambda item: -item[0].count(".")))


def is_folder(path: str) -> bool:
    """A path that ends with a slash, or is a folder already."""
    return path.endswith(("/", "\\")) or Path(path).is_dir()


def text(source: StudySource | RunSource, format: str, request: OutputRequest) -> str:
    """As one text. Raises UsageError for what is several files, KeyError for what the source has not."""
    return b"".join(pieces(source, format, request)).decode()


def pieces(source: StudySource | RunSource, format: str, request: OutputRequest) -> Iterator[bytes]:
    """The same piece by piece: a long run does not fit into memory."""
    made = _made(source, format, request)
    for piece in (made,) if isinstance(made, str) else made:
        yield piece.encode() if isinstance(piece, str) else piece


def _made(source: StudySource | RunSource, format: str, request: OutputRequest) -> Content:
    row = all_formats()[format]
    if isinstance(source, StudySource):
        if row.study is not None:
            return row.study(source, request)
        if row.files is not None:
            raise UsageError(f"--format {format} writes several files: say into which folder, with -o FOLDER/")
    elif row.run is not None:
        return row.run(source, request)
    raise KeyError(format)


def files(source: StudySource, format: str, request: OutputRequest) -> Iterator[tuple[str, bytes]]:
    """(name, content) of what goes into a folder."""
    row = all_formats()[format]
    if row.files is not None:
        yield from row.files(source, request)
    else:
        yield f"report.{row.suffix}", b"".join(pieces(source, format, request))


def write(source: StudySource | RunSource, format: str, path: str, request: OutputRequest) -> list[Path]:
    """Into a file, or into a folder what belongs there; what was written. Raises PlimsollError, UsageError."""
    check_folder(Path(path))
    try:
        if isinstance(source, RunSource) or (all_formats()[format].study is not None and not is_folder(path)):
            return [_write_file(pieces(source, format, request), Path(path))]
        return _write_folder(source, format, path, request)
    except OSError as error:
        raise PlimsollError(f"cannot write {path}: {os.strerror(error.errno) if error.errno else error}") from error


def _write_file(content: Iterator[bytes], path: Path) -> Path:
    """Nothing is made, and an older file stays, when a piece cannot be made."""
    first = next(content, b"")
    with replaced_file(path) as file:
        file.write(first)
        file.writelines(content)
    return path


def _write_folder(source: StudySource, format: str, path: str, request: OutputRequest) -> list[Path]:
    place = Path(path)
    if place.is_file():
        raise UsageError(f"{path} is a file; --format {format} writes into a folder: -o {place.stem}/")
    place.mkdir(exist_ok=True)
    written = []
    for name, content in files(source, format, request):
        with replaced_file(place / name) as file:
            file.write(content)
        written.append(place / name)
    return written
