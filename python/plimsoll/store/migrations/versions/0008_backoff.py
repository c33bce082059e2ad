"""How long users waited because they could not connect."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    # Older runs had no such waits.
    op.add_column("health", sa.Column("backoff_ms", sa.Integer, nullable=False, server_default="0"))
