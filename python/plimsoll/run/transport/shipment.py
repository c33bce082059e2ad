"""The files of a run that travel to other machines: the locustfiles, what they import from their own folders, and files
that the command line names. Everything else stays, whatever else is in the folder."""

from __future__ import annotations

import ast
import logging
import os
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.plain_text import printable
from plimsoll.say.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Self

    from plimsoll.run.plan import RunPlan

    Import = tuple[int, list[str]]
    """(dots before it, the parts of its name)"""

logger = logging.getLogger("plimsoll.run")

MAX_SHIPMENT_BYTES = 512 << 20
"""Bytes of all files that travel to other machines."""
MOST_LISTED = 100
"""Files that the log names."""
GUARDED = (
    ".*", "*.env", "*.pem", "*.key", "*.crt", "*.cer", "*.der", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.db", "*.db-*", "*.sqlite*", "__pycache__", "node_modules",
)  # fmt: skip
"""Names that only a pattern with such a name makes travel: hidden files, secrets, keys, certificates, stores, and what
every machine makes or installs itself."""
_SUFFIXES = (*EXTENSION_SUFFIXES, *SOURCE_SUFFIXES)


@dataclass(frozen=True, slots=True)
class Shipment:
    """What travels."""

    root: str = ""
    """The folder that the names count from; absolute."""
    names: tuple[str, ...] = ()
    """Of the files below it, in order."""
    files: str = "."
    """The folder of the locustfiles below it."""
    folder: str = "."
    """The working directory below it."""
    locustfiles: tuple[str, ...] = ()
    """Their names below their folder."""

    @classmethod
    def of(cls, plan: RunPlan, folder: Path) -> Self:
        """folder: the working directory. Names count from there if the locustfiles are in it or below it, else from
        their own folder. Raises UsageError for a pattern without a file, and for files that are too large together."""
        paths = [Path(each) for each in plan.locustfiles]
        if not paths:
            return cls()
        own = Path(os.path.commonpath([each.parent for each in paths]))
        root = folder if own.is_relative_to(folder) else own
        found = {*_followed(paths, root), *_of_options(plan.arguments, root, folder)}
        for pattern in plan.ship:
            found.update(_matching(root, pattern))
        inside = os.path.relpath(own, root)
        names = tuple(sorted(str(path.relative_to(root)) for path in found))
        locustfiles = tuple(str(path.relative_to(own)) for path in paths)
        shipment = cls(str(root), names, inside, "." if root == folder else inside, locustfiles)
        shipment._check_size()
        return shipment

    def to_list(self) -> list[Any]:
        """Plain values, for a message."""
        return [self.root, list(self.names), self.files, self.folder, list(self.locustfiles)]

    @classmethod
    def from_list(cls, data: Sequence[Any]) -> Self:
        root, names, files, folder, locustfiles = data
        return cls(root, tuple(names), files, folder, tuple(locustfiles))

    @property
    def paths(self) -> list[Path]:
        return [Path(self.root) / name for name in self.names]

    def log(self) -> None:
        """Say what travels, with sizes."""
        if not self.names:
            return
        sizes = [path.stat().st_size for path in self.paths]
        logger.info("%s of %s travel to the workers, %s:", counted(len(sizes), "file"), self.root, _size(sum(sizes)))
        for name, size in list(zip(self.names, sizes, strict=True))[:MOST_LISTED]:
            logger.info("    %s  %s", printable(name), _size(size))
        if len(sizes) > MOST_LISTED:
            logger.info("    and %s more", f"{len(sizes) - MOST_LISTED:,}")

    def _check_size(self) -> None:
        sizes = {name: path.stat().st_size for name, path in zip(self.names, self.paths, strict=True)}
        if (total := sum(sizes.values())) > MAX_SHIPMENT_BYTES:
            largest = ", ".join(f"{name} ({_size(sizes[name])})" for name in sorted(sizes, key=sizes.__getitem__)[-3:])
            raise UsageError(
                f"the files of the run have {_size(total)}, and at most {_size(MAX_SHIPMENT_BYTES)} travel to other "
                f"machines; put large files on the machines. The largest: {largest}"
            )


def _size(count: int) -> str:
    return f"{count} bytes" if count < 1024 else f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count >> 20} MiB"


def _matching(root: Path, pattern: str) -> set[Path]:
    """Files below the root that a pattern names. Raises UsageError if there are none."""
    parts = Path(pattern).parts
    if not parts or Path(pattern).is_absolute() or ".." in parts:
        raise UsageError(f"--ship {pattern}: a pattern for files below {root}, such as data/*.csv")
    named = _guarded(parts)
    found = {path for match in root.glob(pattern) for path in (match.rglob("*") if match.is_dir() else (match,))}
    files = {path for path in found if path.is_file()}
    allowed = {path for path in files if _may_travel(path.relative_to(root), named)}
    if not allowed:
        why = f"{root} has no such file"
        if files:
            why = f"{files.pop().relative_to(root)} travels only if it is named; hidden files, keys and stores do not"
        raise UsageError(f"--ship {pattern}: {why}")
    return allowed


def _may_travel(name: Path, named: int = 0) -> bool:
    """named: how many parts of the pattern that it matches are guarded themselves."""
    return _guarded(name.parts) <= named


def _guarded(parts: Iterable[str]) -> int:
    return sum(any(fnmatchcase(part.lower(), each) for each in GUARDED) for part in parts)


def _of_options(arguments: Sequence[str], root: Path, folder: Path) -> Iterator[Path]:
    """Files that values of the locustfile's own options name."""
    for word in arguments:
        path = Path(os.path.normpath(folder / word.rpartition("=")[2]))
        if path.is_relative_to(root) and path.is_file() and _may_travel(path.relative_to(root)):
            yield path


def _followed(paths: Sequence[Path], root: Path) -> set[Path]:
    """The locustfiles, and all that they import from their folders and from the root; and so on."""
    folders = list(dict.fromkeys([*(each.parent for each in paths), root]))
    found: set[Path] = set()
    left = list(paths)
    while left:
        path = left.pop()
        if path not in found and path.is_relative_to(root):
            found.add(path)
            left += _imported(path, folders)
    return found


def _imported(path: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """The files that a file imports, as far as its text says so. One that cannot be read is the worker's to name."""
    try:
        tree = ast.parse(path.read_bytes()) if path.suffix in SOURCE_SUFFIXES else ast.Module([], [])
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        for dots, parts in _imports(node):
            for folder in [path.parents[dots - 1]] if dots else folders:
                if located := list(_located(folder, parts)):
                    yield from located
                    break


def _imports(node: ast.AST) -> Iterator[Import]:
    match node:
        case ast.Import(names=names):
            yield from ((0, each.name.split(".")) for each in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            yield from ((level, [*(module.split(".") if module else ()), each.name]) for each in names)
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            dots = len(name) - len(name.lstrip("."))
            yield dots, name[dots:].split(".")


def _located(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    """The files that are executed when this name is imported from this folder; the last part may be an attribute."""
    for part in parts:
        if part == "*":
            yield from (each for each in folder.iterdir() if each.name.endswith(_SUFFIXES))
        elif package := _module(folder / part, "__init__"):
            yield package
        elif module := _module(folder, part):
            yield module
            return
        folder = folder / part
        if not folder.is_dir():
            return


def _module(folder: Path, name: str) -> Path | None:
    return next((path for suffix in _SUFFIXES if (path := folder / f"{name}{suffix}").is_file()), None)
