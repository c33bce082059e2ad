"""Exchanges that opened a connection, and what that took."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    # The defaults are for older runs, of which this is not known.
    for name in ("connected", "connect_sum"):
        op.add_column("interval", sa.Column(name, sa.BigInteger, nullable=False, server_default="0"))
