"""How long replies waited because a worker slept to read more of them at a time."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    # Older workers slept for so short a time that it was not counted.
    op.add_column("health", sa.Column("gathered_ms", sa.Integer, nullable=False, server_default="0"))
