"""Exchanges without a response are called unanswered, and have the times that they waited."""

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    # How long older ones waited is not known: they stay without times.
    op.execute("UPDATE interval SET outcome = 'unanswered' WHERE outcome = 'cancelled'")
