"""Brings the tables of a database to the version that this code knows."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, String, Table, func, inspect, select, text

from plimsoll.errors import StoreError
from plimsoll.store.schema import VERSION, VERSION_TABLE, metadata

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from plimsoll.store.database import Database

# Any number that no other program is likely to lock in the same PostgreSQL database.
_LOCK = 0x706C696D

_VERSIONS = re.compile(r"(?!0000)[0-9]{4}", re.ASCII)


def migrate(database: Database) -> None:
    """Creates or upgrades the tables. Raises StoreError for a newer store, or a database of something else."""
    with database.read("read its version") as connection:
        if _version(connection) == VERSION:
            return
    with database.write("create its tables") as connection:
        if not database.is_sqlite:
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
        version = _version(connection)
        if version is None:
            _refuse_foreign(database, connection)
        elif not _VERSIONS.fullmatch(version):
            raise StoreError(f"store {database.name}: no Plimsoll has tables of version {version[:40]!r}")
        elif version > VERSION:
            raise StoreError(
                f"store {database.name}: written by a newer Plimsoll (tables {version}, this one knows {VERSION}); "
                "upgrade Plimsoll"
            )
        if version is None:
            _create(connection)
        elif version != VERSION:
            _upgrade(connection)


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return str(connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}")))


def _refuse_foreign(database: Database, connection: Connection) -> None:
    tables = set(inspect(connection).get_table_names())
    # An SQLite file is ours alone; a PostgreSQL database may be shared as long as the names do not clash.
    foreign = tables if database.is_sqlite else tables & set(metadata.tables)
    if foreign:
        raise StoreError(
            f"store {database.name}: holds tables of something else ({', '.join(sorted(foreign)[:3])}); "
            "name another place with --store"
        )


def _create(connection: Connection) -> None:
    # What all migrations come to, without loading Alembic, which would take longer than a short run.
    metadata.create_all(connection)
    key = PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc")
    version = Table(VERSION_TABLE, MetaData(), Column("version_num", String(32), nullable=False), key)
    version.create(connection)
    connection.execute(version.insert().values(version_num=VERSION))


def _upgrade(connection: Connection) -> None:
    # Imported here: most openings find the tables as they should be.
    from alembic import command
    from alembic.config import Config

    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", "plimsoll.store:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
