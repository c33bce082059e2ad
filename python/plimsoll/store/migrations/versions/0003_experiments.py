"""Experiments: what their file says, their cells, and what was observed of their targets."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    # The defaults are for names that runs were given before there were experiments.
    op.add_column("experiment", sa.Column("status", sa.String(16), nullable=True))
    op.add_column("experiment", sa.Column("ended", sa.Double, nullable=True))
    op.add_column("experiment", sa.Column("question", sa.Text, nullable=False, server_default=""))
    op.add_column("experiment", sa.Column("spec", sa.JSON, nullable=True))
    op.add_column("experiment", sa.Column("digest", sa.String(64), nullable=True))
    op.add_column("experiment", sa.Column("files", sa.JSON, nullable=False, server_default="{}"))
    op.add_column("experiment", sa.Column("seed", sa.BigInteger, nullable=True))
    op.add_column("experiment", sa.Column("is_aa", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("experiment", sa.Column("command", sa.Text, nullable=False, server_default=""))
    op.add_column("experiment", sa.Column("writer", sa.Text, nullable=True))
    op.add_column("experiment", sa.Column("written", sa.Double, nullable=True))
    op.create_table(
        "cell",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("experiment", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.Column("variant", sa.Text, nullable=False),
        sa.Column("unit", sa.String(8), nullable=True),
        sa.Column("level", sa.Double, nullable=True),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("run", sa.String(32), nullable=True),
        sa.Column("started", sa.Double, nullable=True),
        sa.Column("ended", sa.Double, nullable=True),
        sa.Column("phases", sa.JSON, nullable=False, server_default="{}"),
        sa.Column("target", sa.JSON, nullable=False, server_default="{}"),
        sa.Column("data", sa.JSON, nullable=False, server_default="{}"),
        sa.Column("collected", sa.JSON, nullable=False, server_default="{}"),
        sa.PrimaryKeyConstraint("id", name="pk_cell"),
        sa.ForeignKeyConstraint(["experiment"], ["experiment.id"], name="fk_cell_experiment"),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_cell_run"),
    )
    op.create_index("ix_cell_experiment", "cell", ["experiment"])
    op.create_index("ix_cell_run", "cell", ["run"])
    op.create_table(
        "observation",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("seconds", sa.LargeBinary, nullable=False),
        sa.Column("values", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_observation"),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_observation_run"),
    )
    op.create_index("ix_observation_run", "observation", ["run"])
