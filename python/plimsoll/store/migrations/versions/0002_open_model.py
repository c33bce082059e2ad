"""What the open model adds to a second of a worker, and what is found out about a run while it goes on."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    # The defaults are for the rows of older runs, in which nothing of this could happen or was looked for.
    op.add_column("health", sa.Column("waiting", sa.Integer, nullable=False, server_default="0"))
    op.add_column("health", sa.Column("offered", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("health", sa.Column("exhausted", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("run", sa.Column("facts", sa.JSON, nullable=False, server_default="{}"))
