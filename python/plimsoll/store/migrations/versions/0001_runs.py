"""Experiments and runs: intervals, health, failures, exceptions."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "experiment",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_experiment"),
        sa.UniqueConstraint("name", name="uq_experiment_name"),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("experiment", sa.Integer, nullable=True),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("started", sa.Double, nullable=False),
        sa.Column("ended", sa.Double, nullable=True),
        sa.Column("writer", sa.Text, nullable=False),
        sa.Column("written", sa.Double, nullable=False),
        sa.Column("batch", sa.Integer, nullable=False),
        sa.Column("manifest", sa.JSON, nullable=False),
        sa.Column("notes", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
        sa.ForeignKeyConstraint(["experiment"], ["experiment.id"], name="fk_run_experiment"),
    )
    op.create_index("ix_run_experiment", "run", ["experiment"])
    op.create_index("ix_run_started", "run", ["started"])
    op.create_table(
        "endpoint",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_endpoint"),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_endpoint_run"),
        sa.UniqueConstraint("run", "digest", name="uq_endpoint_run_digest"),
    )
    _create_seconds()
    op.create_table(
        "failure",
        sa.Column("endpoint", sa.Integer, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("first", sa.Double, nullable=False),
        sa.Column("last", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("endpoint", "outcome", "digest", name="pk_failure"),
        sa.ForeignKeyConstraint(["endpoint"], ["endpoint.id"], name="fk_failure_endpoint"),
    )
    op.create_table(
        "exception",
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("traceback", sa.Text, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("workers", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("run", "digest", name="pk_exception"),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_exception_run"),
    )


def _create_seconds() -> None:
    """The tables that grow with every second of a run."""
    op.create_table(
        "interval",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("second", sa.Integer, nullable=False),
        sa.Column("endpoint", sa.Integer, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("untimed", sa.BigInteger, nullable=False),
        sa.Column("overflow", sa.BigInteger, nullable=False),
        sa.Column("bytes_out", sa.BigInteger, nullable=False),
        sa.Column("bytes_in", sa.BigInteger, nullable=False),
        sa.Column("bytes_body", sa.BigInteger, nullable=False),
        sa.Column("hops", sa.BigInteger, nullable=False),
        sa.Column("retries", sa.BigInteger, nullable=False),
        sa.Column("response_sum", sa.BigInteger, nullable=False),
        sa.Column("response_min", sa.BigInteger, nullable=False),
        sa.Column("response_max", sa.BigInteger, nullable=False),
        sa.Column("service_sum", sa.BigInteger, nullable=False),
        sa.Column("response", sa.LargeBinary, nullable=False),
        sa.Column("service", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_interval"),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_interval_run"),
        sa.ForeignKeyConstraint(["endpoint"], ["endpoint.id"], name="fk_interval_endpoint"),
    )
    op.create_index("ix_interval_run_second", "interval", ["run", "second"])
    op.create_table(
        "health",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("second", sa.Integer, nullable=False),
        sa.Column("worker", sa.Integer, nullable=False),
        sa.Column("lag", sa.LargeBinary, nullable=False),
        sa.Column("delay", sa.LargeBinary, nullable=False),
        sa.Column("user_stamps", sa.BigInteger, nullable=False),
        sa.Column("rejected_stamps", sa.BigInteger, nullable=False),
        sa.Column("cpu", sa.Double, nullable=False),
        sa.Column("users", sa.Integer, nullable=False),
        sa.Column("in_flight", sa.Integer, nullable=False),
        sa.Column("dropped", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_health"),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_health_run"),
    )
    op.create_index("ix_health_run_second", "health", ["run", "second"])
