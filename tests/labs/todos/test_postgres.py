from pathlib import Path

import psycopg
from labs.todos.postgres import running_postgres


def test_a_server_runs_in_a_private_directory_and_leaves_nothing_behind() -> None:
    with running_postgres() as address:
        with psycopg.connect(f"postgresql://{address}", connect_timeout=5) as connection:
            row = connection.execute("SHOW data_directory").fetchone()
        assert row is not None
        data = Path(row[0])
        assert data.is_dir()
        assert data.parent.stat().st_mode & 0o077 == 0, "only the server's own user may read it"
    assert not data.parent.exists()


def test_two_servers_run_side_by_side() -> None:
    with running_postgres() as one, running_postgres() as other:
        for address in (one, other):
            with psycopg.connect(f"postgresql://{address}", connect_timeout=5) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
        assert one != other
