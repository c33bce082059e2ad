"""What responses had been with a generator that sends on time, and why a worker was late."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("interval", sa.Column("on_time", sa.LargeBinary, nullable=True))
    # Of older runs neither is known; their workers are taken not to have stood still, nor to have waited.
    for name in ("silence_ms", "cpu_wait_ms"):
        op.add_column("health", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
