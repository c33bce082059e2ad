"""The tables. `migrate` creates them in a new store, `migrations/` upgrades older ones; a test compares the two.

Sums are in ns and bytes, times of day in Unix seconds, histograms HdrHistogram V2 (µs), compressed if long. Rows of
`interval` and `health` are additive: a reader adds up rows with the same key.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from plimsoll.record import COUNTERS, GENERATOR_COUNTERS, WORKER_STATE

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

VERSION = "0013"
"""The newest migration, and so the version of the tables."""

VERSION_TABLE = "plimsoll_version"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def plain_columns(table: Table, of: type[DataclassInstance]) -> tuple[str, ...]:
    """Columns that hold a field of a value as it is; histograms are encoded."""
    columns = {each.name for each in table.columns if not isinstance(each.type, LargeBinary)}
    return tuple(each.name for each in fields(of) if each.name in columns)


experiment = Table(
    "experiment",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created", Double, nullable=False),
    # "open" or "finished"; null for a name that runs were given without any file.
    Column("status", String(16), nullable=True),
    Column("ended", Double, nullable=True),
    Column("question", Text, nullable=False, server_default=""),
    # What its file says, in JSON, with the digest of that and those of the files that it names.
    Column("spec", JSON, nullable=True),
    Column("digest", String(64), nullable=True),
    Column("files", JSON, nullable=False, server_default="{}"),
    Column("seed", BigInteger, nullable=True),
    Column("is_aa", Boolean, nullable=False, server_default=false()),
    Column("command", Text, nullable=False, server_default=""),
    # Who runs it, as with a run.
    Column("writer", Text, nullable=True),
    Column("written", Double, nullable=True),
    # What people say of it.
    Column("tags", JSON, nullable=False, server_default="[]"),
    Column("note", Text, nullable=False, server_default=""),
)

run = Table(
    "run",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("experiment", ForeignKey("experiment.id"), nullable=True, index=True),
    Column("status", String(16), nullable=False),
    Column("started", Double, nullable=False, index=True),
    Column("ended", Double, nullable=True),
    # The process that writes it. It distinguishes a run whose writer died from one in progress.
    Column("writer", Text, nullable=False),
    Column("written", Double, nullable=False),
    # Number of transactions, so that a commit whose fate was unknown is not repeated.
    Column("batch", Integer, nullable=False),
    Column("manifest", JSON, nullable=False),
    Column("notes", JSON, nullable=False),
    # What was found out while it went on, for its verdict. A missing key: nobody knows.
    Column("facts", JSON, nullable=False, server_default="{}"),
    # What people say of it.
    Column("tags", JSON, nullable=False, server_default="[]"),
    Column("note", Text, nullable=False, server_default=""),
    # What a search looks through, so that it need not read manifests.
    Column("words", Text, nullable=False, server_default=""),
)

endpoint = Table(
    "endpoint",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run", ForeignKey("run.id"), nullable=False),
    Column("method", Text, nullable=False),
    Column("name", Text, nullable=False),
    # Of method and name: names may be longer than what an index of PostgreSQL takes.
    Column("digest", String(64), nullable=False),
    UniqueConstraint("run", "digest"),
)

interval = Table(
    "interval",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("run", ForeignKey("run.id"), nullable=False),
    Column("second", Integer, nullable=False),
    Column("endpoint", ForeignKey("endpoint.id"), nullable=False),
    Column("outcome", String(16), nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in COUNTERS),
    Column("response_sum", BigInteger, nullable=False),
    Column("response_min", BigInteger, nullable=False),
    Column("response_max", BigInteger, nullable=False),
    Column("service_sum", BigInteger, nullable=False),
    Column("response", LargeBinary, nullable=False),
    Column("service", LargeBinary, nullable=False),
    # Null where it equals `service`.
    Column("on_time", LargeBinary, nullable=True),
    Index(None, "run", "second"),
)

health = Table(
    "health",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("run", ForeignKey("run.id"), nullable=False),
    Column("second", Integer, nullable=False),
    Column("worker", Integer, nullable=False),
    Column("lag", LargeBinary, nullable=False),
    Column("delay", LargeBinary, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in GENERATOR_COUNTERS),
    Column("cpu", Double, nullable=False),
    *(Column(name, Integer, nullable=False) for name in WORKER_STATE if name != "cpu"),
    # Of this worker; null and 0 in runs on one machine.
    Column("requests", BigInteger, nullable=False, server_default="0"),
    Column("failures", BigInteger, nullable=False, server_default="0"),
    Column("response", LargeBinary, nullable=True),
    # Null where it is not known.
    Column("retransmissions", BigInteger, nullable=True),
    Index(None, "run", "second"),
)

failure = Table(
    "failure",
    metadata,
    Column("endpoint", ForeignKey("endpoint.id"), primary_key=True),
    Column("outcome", String(16), primary_key=True),
    Column("digest", String(64), primary_key=True),
    # With placeholders for what changes, and the first one as it was.
    Column("message", Text, nullable=False),
    Column("example", Text, nullable=False, server_default=""),
    Column("is_varied", Boolean, nullable=False, server_default=false()),
    Column("count", BigInteger, nullable=False),
    Column("first", Double, nullable=False),
    Column("last", Double, nullable=False),
)

exception = Table(
    "exception",
    metadata,
    Column("run", ForeignKey("run.id"), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("message", Text, nullable=False),
    Column("traceback", Text, nullable=False),
    Column("count", BigInteger, nullable=False),
    Column("workers", JSON, nullable=False),
)

cell = Table(
    "cell",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("experiment", ForeignKey("experiment.id"), nullable=False, index=True),
    # From 1, in the order in which cells are run. A number may have several rows: all but the last are superseded.
    Column("number", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("variant", Text, nullable=False),
    # "users" or "/s"; both are null where the plan says how much load there is.
    Column("unit", String(8), nullable=True),
    Column("level", Double, nullable=True),
    Column("operation", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("state", String(16), nullable=False),
    Column("reason", Text, nullable=False, server_default=""),
    Column("run", ForeignKey("run.id"), nullable=True, index=True),
    Column("started", Double, nullable=True),
    Column("ended", Double, nullable=True),
    # Seconds by phase; what is known of the target; its facts before and after; what was collected: JSON, by name.
    Column("phases", JSON, nullable=False, server_default="{}"),
    Column("target", JSON, nullable=False, server_default="{}"),
    Column("data", JSON, nullable=False, server_default="{}"),
    Column("collected", JSON, nullable=False, server_default="{}"),
)

observation = Table(
    "observation",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run", ForeignKey("run.id"), nullable=False, index=True),
    Column("source", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("unit", Text, nullable=False),
    # Seconds since second 0 of the run, and what was observed then: 64-bit floats, little-endian, compressed by zlib.
    Column("seconds", LargeBinary, nullable=False),
    Column("values", LargeBinary, nullable=False),
)

study = Table(
    "study",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created", Double, nullable=False),
    # The file that it was read from, and its SHA-256.
    Column("source", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    # As `stats.study_json` writes it.
    Column("document", JSON, nullable=False),
    # What people say of it.
    Column("tags", JSON, nullable=False, server_default="[]"),
    Column("note", Text, nullable=False, server_default=""),
)

summary = Table(
    "summary",
    metadata,
    Column("run", ForeignKey("run.id"), primary_key=True),
    # By which rules it was made, and of which state of the run: its `written`. Of others it is out of date.
    Column("rules", String(64), nullable=False),
    Column("written", Double, nullable=False),
    Column("figures", JSON, nullable=False),
)
