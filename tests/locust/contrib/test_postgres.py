from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.locust.contrib.conftest import RecordedRequest

CODE = """
from locust.contrib.postgres import PostgresUser
class Reader(PostgresUser):
    conn_string = "host={host} user=plimsoll dbname=postgres"
user = Reader(environment)
user.client.execute_query("SELECT pg_sleep(0.05)")
user.client.execute_query("SELECT no_such_column")
user.on_stop()
assert user.client.connection.closed
"""


def test_a_query_is_reported_as_what_became_of_it(
    run_code: Callable[..., list[RecordedRequest]], postgresql_server: str
) -> None:
    slept, failed = run_code(CODE.format(host=postgresql_server))
    assert (slept.type, slept.name, slept.length, slept.error) == ("postgres_success", "execute_query", 0, None)
    assert 50 <= slept.time < 5000
    assert (failed.type, failed.name) == ("postgres_failure", "execute_query")
    assert failed.error.startswith('column "no_such_column" does not exist')
