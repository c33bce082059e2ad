"""All outputs of the stores of the corpus: those of `show`, `report`, `compare`, `export` and `runs` in every format.

Formats, tables and refs are taken from the package's registries and from the stores, so a new one is a new output.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from click.testing import CliRunner

from plimsoll.cli import main
from plimsoll.report.formats import FORMATS, of_runs, of_studies
from plimsoll.report.render import pictures
from plimsoll.report.render.analysis_csv import TABLES
from plimsoll.report.text import dumps
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MASKS = (
    # (what is masked, pattern, what stands there instead)
    ("the script of the page, which `make page` builds", rb"(?s)<script>(?!\s*</script>).*?</script>", b"<script/>"),
    ("its digest", rb"script-src 'sha256-[^']*'", b"script-src 'sha256-'"),
    ("the style of the page, which `make page` builds", rb"(?s)<style>.*?</style>", b"<style/>"),
    ("our version, in HTML", rb'(name="generator" content="Plimsoll )[^"]*', rb"\1"),
    ("our version, in documents", rb'("written_by": ?"Plimsoll )[^"]*', rb"\1"),
    ("the version of pyarrow, in Parquet", rb"(parquet-cpp-arrow version )[0-9.]+", rb"\1"),
)
"""What outputs have that does not come from the stores."""
LONG_NUMBER = re.compile(rb"\d+\.\d{11,}(?:e[-+]?\d+)?")
"""The last digits of these depend on the processor: numpy adds up in the order that is fastest there."""
REFUSED = b"exit code 2"


class NotDrawn:
    """In the place of vl-convert: a picture is what is handed to the library, as JSON. What it draws depends on its
    version and on the fonts of the machine, and takes four times as long as all else."""

    @staticmethod
    def vegalite_to_svg(spec: object, **others: object) -> str:
        return dumps({"spec": spec, **others}, indent=1)

    @staticmethod
    def vegalite_to_png(spec: object, **others: object) -> bytes:
        return dumps({"spec": spec, **others}, indent=1).encode()


class Source(NamedTuple):
    """Something in a store that is reported. name: of its folder among the outputs."""

    store: str
    name: str
    refs: tuple[str, ...]
    is_run: bool = False


def prepare() -> None:
    """What the environment could change: time zone, width of the terminal, colours and settings of the user."""
    for name in [each for each in os.environ if each.startswith(("LOCUST_", "PLIMSOLL_", "LC_"))]:
        del os.environ[name]
    os.environ |= {"COLUMNS": "120", "TZ": "UTC", "NO_COLOR": "1"}
    time.tzset()
    sys.argv = ["plimsoll"]
    pictures.converter = NotDrawn  # type: ignore[assignment]
    # A report names its store by the whole path, and widths of tables depend on its length: it cannot be masked later.
    Store.name = property(lambda store: Path(store._database.name).name)  # type: ignore[assignment]


def sources(store: Path) -> Iterator[Source]:
    """Each run, experiment and import of a store; each run with the one after it; for a tag, the good runs before."""
    with Store.open(str(store)) as opened:
        runs = opened.runs()[::-1]
        names = [f"{run.id}.{_plain(run.manifest.name)}".rstrip(".") for run in runs]
        experiments = sorted(each.name for each in opened.experiments.all())
        imports = sorted(each.name for each in opened.imports.all())
        tags = sorted({tag for run in runs for tag in run.tags})
    alone = [(name, run) for name, run in zip(names, runs, strict=True) if run.experiment is None]
    for name, run in alone:
        yield Source(store.name, name, (run.id,), is_run=True)
    for (name, run), (_, after) in itertools.pairwise(alone):
        yield Source(store.name, f"{name}-and-next", (run.id, after.id))
    if len(alone) > 2:
        yield Source(store.name, "all-runs", tuple(run.id for _, run in alone))
    for name in (*experiments, *imports):
        yield Source(store.name, _plain(name), (name,))
    for several in (experiments, imports):
        for before, after in itertools.pairwise(several):
            yield Source(store.name, f"{_plain(before)}-and-{_plain(after)}", (before, after))
    for tag in tags:
        yield Source(store.name, f"since-{_plain(tag)}", (f"{tag}@{{last}}", "last"))


def outputs(folder: Path, source: Source) -> Iterator[tuple[str, bytes]]:
    """(name, content) of each output of a source. folder: where its store is."""
    place = f"{source.store.removesuffix('.db')}/{source.name}"
    for name, words in commands(source):
        found = {f"{place}/{name}{file}": masked(content) for file, content in run(folder, words, source.store)}
        yield from found.items()
        if found.get(f"{place}/{name}.stderr", b"").startswith(REFUSED):
            # All formats are refused for the same reason.
            return


def listings(folder: Path, store: str) -> Iterator[tuple[str, bytes]]:
    """The same, of what `plimsoll runs` says of a store."""
    for name, words in {
        "runs.txt": ["-n", "1000"],
        "runs.json": ["-n", "1000", "--json"],
        "runs.csv": ["-n", "1000", "--otava"],
        "experiments.txt": ["--experiments"],
        "experiments.json": ["--experiments", "--json"],
    }.items():
        for file, content in run(folder, ["runs", *words], store):
            yield f"{store.removesuffix('.db')}/{name}{file}", masked(content)


def commands(source: Source) -> Iterator[tuple[str, list[str]]]:
    """(name of the output, command)"""
    verb = "report" if len(source.refs) != 2 else "compare"
    for name in of_studies():
        for table in TABLES if name == "csv" else ("",):
            if FORMATS[name].study is not None:
                chosen = ["--table", table] if table else []
                yield f"{verb}{table and f'.{table}'}.{FORMATS[name].suffix}", [
                    verb, *source.refs, "--format", name, *chosen
                ]  # fmt: skip
        if FORMATS[name].files is not None and name != "csv":
            yield f"{verb}-folder.{name}", [verb, *source.refs, "--format", name, "-o", "out/"]
    if source.is_run:
        yield "show.txt", ["show", *source.refs]
        yield "show.json", ["show", *source.refs, "--json"]
        yield "show.successes.txt", ["show", *source.refs, "--times-of", "successes"]
        for name in of_runs():
            yield f"export.{name}", ["export", *source.refs, "--format", name, "-o", "-"]


def run(folder: Path, words: Sequence[str], store: str) -> Iterator[tuple[str, bytes]]:
    """(end of a name, content) of what a command writes: to stdout, to stderr, and into the folder out."""
    with contextlib.chdir(folder):
        done = CliRunner().invoke(main, [*words, "--store", store])
    out = folder / "out"
    files = [(f"/{path.name}", path.read_bytes()) for path in sorted(out.glob("*"))]
    shutil.rmtree(out, ignore_errors=True)
    gc.unfreeze()
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise RuntimeError(f"plimsoll {' '.join(words)} failed") from done.exception
    if files:
        yield from files
    elif done.stdout_bytes:
        yield "", done.stdout_bytes
    if done.stderr_bytes or done.exit_code:
        yield ".stderr", b"exit code %d\n%s" % (done.exit_code, done.stderr_bytes)


def masked(content: bytes) -> bytes:
    for _, pattern, instead in MASKS:
        content = re.sub(pattern, instead, content)
    return LONG_NUMBER.sub(lambda number: b"%.11g" % float(number[0]), content)


def _plain(name: object) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", str(name or "")).strip("-")
