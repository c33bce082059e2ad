"""The imported studies of a store: each as the JSON document that `stats.study_json` writes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select

from plimsoll.errors import RefError
from plimsoll.redact import storable, storable_json
from plimsoll.store.checks import check_row
from plimsoll.store.schema import study as table

if TYPE_CHECKING:
    from sqlalchemy import Row

    from plimsoll.store.database import Database

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class StoredStudy:
    """A study of the store."""

    id: str
    name: str
    created: float
    """When the study was stored, in Unix seconds."""
    source: str
    """The file that it was read from."""
    digest: str
    """SHA-256 of that file, in hexadecimal digits."""
    document: dict[str, Any]
    """The study as JSON; `study_json.from_json` reads it."""
    tags: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class ListedStudy:
    """A stored study without its document, which may be long."""

    id: str
    name: str
    created: float
    question: str
    trials: int
    tags: tuple[str, ...]
    note: str


class Imports:
    """By id or name. Everything raises StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(
        self, name: str, document: dict[str, Any], *, source: str, digest: str, created: float
    ) -> tuple[str, bool]:
        """(its id, whether it replaced another one of the same name). document: JSON."""
        name, document = storable(name), storable_json(document)
        text = json.dumps([name, digest, document], sort_keys=True, ensure_ascii=True)
        key = f"s{hashlib.sha256(text.encode()).hexdigest()[:10]}"
        row: dict[str, Any] = {
            "id": key,
            "name": name,
            "created": created,
            "source": storable(source),
            "digest": digest,
            "document": document,
        }
        said = select(table.c.tags, table.c.note).where(table.c.name == name)
        with self._database.write("keep the study") as connection:
            # What people said of the one of this name they say of this one.
            row |= dict(connection.execute(said).mappings().first() or {})
            replaced = connection.execute(delete(table).where(table.c.name == name)).rowcount > 0
            connection.execute(insert(table), row)
        return key, replaced

    def all(self) -> list[StoredStudy]:
        """All studies, the latest first."""
        query = select(table).order_by(table.c.created.desc(), table.c.name)
        with self._database.read("list its studies") as connection:
            return [_kept(row) for row in connection.execute(query)]

    def listed(self) -> list[ListedStudy]:
        """All studies without their documents, the latest first."""
        column = table.c
        trials = func.json_array_length(column.document["trials"])
        question = column.document["question"].as_string()
        query = select(column.id, column.name, column.created, question, trials, column.tags, column.note)
        with self._database.read("list its studies") as connection:
            return [_listed(row) for row in connection.execute(query.order_by(column.created.desc(), column.name))]

    def find(self, ref: str) -> StoredStudy | None:
        """The study with this name, with this id, or with an id that alone begins so; None if there is none."""
        ref = storable(ref)
        begins = table.c.id.startswith(ref, autoescape=True)
        query = select(table).where((table.c.name == ref) | begins).order_by(table.c.id)
        with self._database.read("look for the study") as connection:
            found = [_kept(row) for row in connection.execute(query)]
        exact = [each for each in found if ref in (each.name, each.id)]
        if len(exact or found) > 1:
            several = ", ".join(each.id for each in found[:_SHOWN])
            raise RefError(f"several studies start with {ref!r}: {several}")
        return next(iter(exact or found), None)


def _listed(row: Row[*tuple[Any, ...]]) -> ListedStudy:
    key, name, created, question, trials, tags, note = row
    column = table.c
    check_row((column.id, column.name, column.created, column.tags, column.note), (key, name, created, tags, note))
    return ListedStudy(key, name, created, question or "", trials or 0, tuple(tags), note)


def _kept(row: Row[*tuple[Any, ...]]) -> StoredStudy:
    check_row(tuple(table.c), row)
    described = row.id, row.name, row.created, row.source, row.digest
    return StoredStudy(*described, row.document, tuple(row.tags), row.note)
