"""Whether the package writes the same as before of the same stores: `python -m tests.corpus [--accept] [--only STORE…]`

Stores of real runs are unpacked, every output of them is made, and compared byte for byte with those in
outputs.tar.xz. Exit code 1 if any differ. A change that is meant to change outputs writes the archive anew with
--accept; its commit says which bytes changed and why. The stores stay as they are: what is read is a copy.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.corpus.archives import OUTPUTS, STORES, pack, unpack
from tests.corpus.outputs import listings, outputs, prepare, sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST_LINES = 40
"""Of a difference."""
LONG_LINE = 200
"""Lines that are longer are shown in parts: JSON without line feeds is one line."""
MOST_SHOWN = 50
"""Differences that are shown; further ones are named."""


def unpack_stores(folder: Path) -> None:
    """Writes the stores into this folder."""
    for archive in sorted(STORES.glob("*.tar.xz")):
        for name, content in unpack(archive).items():
            (folder / name).write_bytes(content)


def made(processes: int, only: Sequence[str]) -> tuple[dict[str, bytes], int]:
    """All outputs by name, in order, and the number of stores. only: names of stores, if not all."""
    prepare()
    names = sorted(name for archive in STORES.glob("*.tar.xz") for name in unpack(archive))
    if unknown := {f"{name}.db" for name in only} - set(names):
        sys.exit(f"no store is called {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    stores = [name for name in names if not only or name.removesuffix(".db") in only]
    found: dict[str, bytes] = {}
    # Forked: the package is imported once.
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        for each in pool.map(_every_nth, range(processes), [processes] * processes, [stores] * processes):
            found |= each
    return dict(sorted(found.items(), key=_by_format)), len(stores)


def _every_nth(part: int, parts: int, stores: Sequence[str]) -> dict[str, bytes]:
    """Outputs of every n-th source of these stores, in a folder of its own."""
    found: dict[str, bytes] = {}
    with TemporaryDirectory(prefix="corpus-") as folder:
        unpack_stores(Path(folder))
        for number, store in enumerate(Path(folder) / name for name in stores):
            if number % parts == part:
                found |= listings(store.parent, store.name)
            for source in list(sources(store))[part::parts]:
                found |= outputs(store.parent, source)
    return found


def _by_format(item: tuple[str, bytes]) -> tuple[str, str]:
    """Outputs of the same format beside one another: the archive is smaller."""
    _, source, *rest = item[0].split("/")
    return "/".join(rest).removeprefix("report").removeprefix("compare") or source, item[0]


def differing(before: Mapping[str, bytes], now: Mapping[str, bytes]) -> list[str]:
    """Names of the outputs that are not the same."""
    return [name for name in dict.fromkeys((*now, *before)) if before.get(name) != now.get(name)]


def difference(name: str, before: bytes | None, now: bytes | None) -> list[str]:
    """How an output differs, in lines. None: there is none."""
    if before is None:
        return [f"new: {name}"]
    if now is None:
        return [f"gone: {name}"]
    try:
        old, new = (list(_lines(each.decode())) for each in (before, now))
    except UnicodeDecodeError:
        return [f"{name}: {len(before):,} bytes before, {len(now):,} now, not text"]
    lines = list(difflib.unified_diff(old, new, f"before/{name}", f"now/{name}", n=1, lineterm=""))
    if not lines:
        return [f"{name}: {len(before):,} bytes before, {len(now):,} now: only line ends differ"]
    more = [f"… and {len(lines) - MOST_LINES:,} lines more"] if len(lines) > MOST_LINES else []
    return [line[: 2 * LONG_LINE] for line in lines[:MOST_LINES]] + more


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from line.replace(',"', ',\n"').replace("},{", "},\n{").split("\n") if len(line) > LONG_LINE else [line]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("--accept", action="store_true", help="write the archive of outputs anew")
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="STORE", help="runs, experiments, …; not with --accept"
    )
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="2 by default")
    chosen = parser.parse_args(arguments)
    if chosen.only and chosen.accept:
        parser.error("--accept writes outputs of all stores: leave out --only")
    kept = unpack(OUTPUTS) if OUTPUTS.exists() else {}
    before = {name: each for name, each in kept.items() if not chosen.only or name.partition("/")[0] in chosen.only}
    now, stores = made(chosen.processes, chosen.only)
    found = differing(before, now)
    for name in found[:MOST_SHOWN]:
        print("\n".join(difference(name, before.get(name), now.get(name))))
    for name in found[MOST_SHOWN:]:
        print(f"differs: {name}")
    print(f"{len(now) - len(set(found) & now.keys()):,} outputs of {stores} stores equal, {len(found):,} differ")
    if not chosen.accept:
        return 1 if found else 0
    if found:
        print(f"{OUTPUTS.name}: {pack(OUTPUTS, now):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
