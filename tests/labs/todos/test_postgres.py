import time
from pathlib import Path

import psycopg
import pytest
from labs.todos.postgres import Cluster, running_postgres

pytestmark = pytest.mark.long


def test_a_server_runs_in_a_private_directory_and_leaves_nothing_behind() -> None:
    with running_postgres() as cluster:
        with psycopg.connect(f"postgresql://{cluster.primary}", connect_timeout=5) as connection:
            row = connection.execute("SHOW data_directory").fetchone()
        assert row is not None
        data = Path(row[0])
        assert data.is_dir()
        assert data.parent.stat().st_mode & 0o077 == 0, "only the server's own user may read it"
        assert cluster.replica is None
    assert not data.parent.exists()


def test_two_servers_run_side_by_side(cluster: Cluster) -> None:
    with running_postgres() as other:
        for address in (cluster.primary, other.primary):
            with psycopg.connect(f"postgresql://{address}", connect_timeout=5) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
        assert cluster.primary != other.primary


def test_what_the_primary_writes_streams_to_the_replica_which_takes_no_writes(cluster: Cluster) -> None:
    with (
        psycopg.connect(f"postgresql://{cluster.primary}", autocommit=True) as primary,
        psycopg.connect(f"postgresql://{cluster.replica}", autocommit=True) as replica,
    ):
        assert replica.execute("SELECT pg_is_in_recovery()").fetchone() == (True,)
        assert primary.execute("SELECT state, sync_state FROM pg_stat_replication").fetchall() == [
            ("streaming", "async")
        ]
        primary.execute("CREATE TABLE streamed AS SELECT 42 AS answer")
        while replica.execute("SELECT to_regclass('streamed')").fetchone() == (None,):
            time.sleep(0.02)
        assert replica.execute("SELECT answer FROM streamed").fetchall() == [(42,)]
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            replica.execute("DROP TABLE streamed")
