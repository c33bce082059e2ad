"""Tags and notes, what runs are found by, and what they come to in short."""

import sqlalchemy as sa
from alembic import op

from plimsoll.record.manifest import Manifest
from plimsoll.store.labels import words_of

revision = "0005"
down_revision = "0004"

_AT_ONCE = 500


def upgrade() -> None:
    for table in ("run", "experiment", "study"):
        op.add_column(table, sa.Column("tags", sa.JSON, nullable=False, server_default="[]"))
        op.add_column(table, sa.Column("note", sa.Text, nullable=False, server_default=""))
    op.add_column("run", sa.Column("words", sa.Text, nullable=False, server_default=""))
    op.create_table(
        "summary",
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("rules", sa.String(64), nullable=False),
        sa.Column("written", sa.Double, nullable=False),
        sa.Column("figures", sa.JSON, nullable=False),
        sa.ForeignKeyConstraint(["run"], ["run.id"], name="fk_summary_run"),
        sa.PrimaryKeyConstraint("run", name="pk_summary"),
    )
    _fill_words()


def _fill_words() -> None:
    connection = op.get_bind()
    run = sa.table(
        "run",
        sa.column("id", sa.String),
        sa.column("experiment", sa.Integer),
        sa.column("manifest", sa.JSON),
        sa.column("words", sa.Text),
    )
    experiment = sa.table("experiment", sa.column("id", sa.Integer), sa.column("name", sa.Text))
    names = dict(connection.execute(sa.select(experiment.c.id, experiment.c.name)).all())
    last = ""
    while True:
        query = sa.select(run.c.id, run.c.experiment, run.c.manifest).where(run.c.id > last).order_by(run.c.id)
        rows = connection.execute(query.limit(_AT_ONCE)).all()
        if not rows:
            return
        for key, number, manifest in rows:
            words = words_of(key, names.get(number, ""), Manifest.from_json(manifest))
            connection.execute(sa.update(run).where(run.c.id == key).values(words=words))
        last = rows[-1].id
