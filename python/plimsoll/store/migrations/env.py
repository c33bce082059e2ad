"""Run by Alembic: applies the migrations on the connection that `plimsoll.store.migrate` holds."""

from alembic import context

from plimsoll.store.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
