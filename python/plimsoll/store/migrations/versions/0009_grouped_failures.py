"""Failures whose messages differ in what changes are one kind, with the first message as an example."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    # Messages of older runs are as they were.
    op.add_column("failure", sa.Column("example", sa.Text, nullable=False, server_default=""))
    op.add_column("failure", sa.Column("is_varied", sa.Boolean, nullable=False, server_default=sa.false()))
