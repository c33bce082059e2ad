"""TCP segments that the system of a worker sent again."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    # Null: nobody has counted them in older runs.
    op.add_column("health", sa.Column("retransmissions", sa.BigInteger, nullable=True))
