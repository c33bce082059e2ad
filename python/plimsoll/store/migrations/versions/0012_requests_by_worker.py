"""Requests, failures and response times by worker, in runs on several machines."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    # Older runs have them only by endpoint.
    op.add_column("health", sa.Column("requests", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("health", sa.Column("failures", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("health", sa.Column("response", sa.LargeBinary, nullable=True))
