"""What people say of runs, experiments and studies: tags and a note. And how runs are found by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import exists, func, select, union, update

from plimsoll.errors import RefError, UsageError
from plimsoll.record.manifest import Manifest
from plimsoll.redact import storable
from plimsoll.store import schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Column, ColumnElement, Connection, Table, TableValuedAlias

    from plimsoll.store.database import Database

MOST_TAGS = 20
LONGEST_TAG = 40
LONGEST_NOTE = 10_000
"""Characters, as those of a tag."""

_LABELLED = (schema.run, schema.experiment, schema.study)
_KEY: Mapping[str, Column[Any]] = {
    "run": schema.run.c.id,
    "experiment": schema.experiment.c.name,
    "study": schema.study.c.id,
}


class Labels:
    """Tags and notes in a store. All methods raise StoreError, changes ReadOnlyError if the store is read-only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tags(self) -> list[str]:
        """All that are in use, in their order."""
        queries = []
        for table in _LABELLED:
            elements = _elements(table.c.tags, self._database)
            has_any = func.json_array_length(table.c.tags) > 0
            queries.append(select(elements.c.value).select_from(table, elements).where(has_any))
        with self._database.read("list its tags") as connection:
            return sorted(connection.scalars(union(*queries)), key=str.casefold)

    def of_run(self, run: str, *, tags: Sequence[str] | None = None, note: str | None = None) -> None:
        """Say this of the run with this very id. None leaves what is said. Raises UsageError for too many tags, and too
        long ones or notes; RefError when there is no such run."""
        values = _checked(tags, note)
        with self._database.write("label the run") as connection:
            _update(connection, schema.run, run, values)
            column = schema.run.c
            query = select(schema.experiment.c.name, column.manifest, column.tags, column.note)
            query = query.outerjoin_from(schema.run, schema.experiment).where(column.id == run)
            experiment, manifest, *said = connection.execute(query).one()
            words = words_of(run, experiment or "", Manifest.from_json(manifest), *said)
            connection.execute(update(schema.run).where(column.id == run).values(words=words))

    def of_experiment(self, name: str, *, tags: Sequence[str] | None = None, note: str | None = None) -> None:
        """The same for the experiment of this name."""
        values = _checked(tags, note)
        with self._database.write("label the experiment") as connection:
            _update(connection, schema.experiment, name, values)

    def of_study(self, key: str, *, tags: Sequence[str] | None = None, note: str | None = None) -> None:
        """The same for the imported study with this id."""
        values = _checked(tags, note)
        with self._database.write("label the study") as connection:
            _update(connection, schema.study, key, values)


def _checked(tags: Sequence[str] | None, note: str | None) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if tags is not None:
        # White space is one space, so that no two tags look the same; twice is once.
        plain = list(dict.fromkeys(" ".join(storable(tag).split()) for tag in tags))
        values["tags"] = [tag for tag in plain if tag]
        if len(values["tags"]) > MOST_TAGS:
            raise UsageError(f"{len(values['tags'])} tags are too many: at most {MOST_TAGS}")
        if long := next((tag for tag in plain if len(tag) > LONGEST_TAG), None):
            raise UsageError(f"tag {long[:LONGEST_TAG]}… is too long: at most {LONGEST_TAG} characters")
    if note is not None:
        values["note"] = storable(note).strip()
        if len(values["note"]) > LONGEST_NOTE:
            raise UsageError(f"a note of {len(values['note'])} characters is too long: at most {LONGEST_NOTE}")
    return values


def _update(connection: Connection, table: Table, key: str, values: Mapping[str, Any]) -> None:
    # Also without a change: it fails if the thing does not exist, or must not be written.
    this = update(table).where(_KEY[table.name] == storable(key))
    if not connection.execute(this.values(values or {"note": table.c.note})).rowcount:
        raise RefError(f"there is no {table.name} {key!r}")


def words_of(run: str, experiment: str, manifest: Manifest, tags: Sequence[str] = (), note: str = "") -> str:
    """What a search looks through, in lower case; lines, so that no word is found across two of them."""
    files = [file.path for file in manifest.scenario.files]
    parts = [run, experiment, manifest.name, *files, manifest.host, manifest.commit, *tags, note]
    return "\n".join(part for part in parts if part).casefold()


def has_words(search: str) -> list[ColumnElement[bool]]:
    """Of runs: every word of the search stands somewhere in what is said of them."""
    words = storable(search).casefold().split()
    return [schema.run.c.words.contains(word, autoescape=True) for word in words]


def has_tag(column: Column[Any], tag: str, database: Database) -> ColumnElement[bool]:
    elements = _elements(column, database)
    return exists(select(1).select_from(elements).where(elements.c.value == storable(tag)))


def _elements(column: Column[Any], database: Database) -> TableValuedAlias:
    """The elements of a JSON list, as rows."""
    each = func.json_each if database.is_sqlite else func.json_array_elements_text
    return each(column).table_valued("value", joins_implicitly=True)
