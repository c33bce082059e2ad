from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from plimsoll.errors import UsageError
from plimsoll.observe import postgres
from plimsoll.observe.postgres import COUNTERS, UNITS, Postgres
from plimsoll.observe.sampler import ProbeError

TIMEOUT_S = 60.0


def test_what_the_database_does_is_told_per_second(postgresql_url: str) -> None:
    probe = Postgres(postgresql_url)
    first = probe.read(0.0)
    assert first == {"connections": 0.0, "active": 0.0, "waiting for locks": 0.0}
    with psycopg.connect(postgresql_url, autocommit=True) as busy:
        busy.execute("CREATE TABLE t (x int)")
        for number in range(50):
            busy.execute("INSERT INTO t VALUES (%s)", (number,))
        with pytest.raises(psycopg.errors.DivisionByZero):
            busy.execute("SELECT 1 / 0")
        assert probe.read(1.0)["connections"] == 1.0
    # Its sessions tell the server what they did when they end, at the latest.
    totals = dict.fromkeys(COUNTERS, 0.0)
    deadline = time.monotonic() + TIMEOUT_S
    now = 1.0
    while totals["commits"] < 51 and time.monotonic() < deadline:
        time.sleep(0.05)
        now += 0.5
        figures = probe.read(now)
        totals = {name: total + 0.5 * figures[name] for name, total in totals.items()}
    assert totals["commits"] >= 51
    assert totals["rollbacks"] >= 1
    assert totals["blocks hit"] > 0
    assert totals["deadlocks"] == 0
    figures = probe.read(now + 1)
    assert set(figures) <= set(UNITS)
    assert set(COUNTERS) <= set(figures)
    assert figures["connections"] == 0.0
    assert probe.unit("cache hits") == "%"
    assert probe.source.startswith("postgresql test")
    probe.close()
    probe.close()


def test_statistics_that_were_reset_are_no_negative_rates(postgresql_url: str) -> None:
    probe = Postgres(postgresql_url)
    for now in range(20):
        probe.read(float(now))
    with psycopg.connect(postgresql_url, autocommit=True) as other:
        other.execute("SELECT pg_stat_reset()")
    assert min(probe.read(20.0).values()) >= 0
    assert min(probe.read(21.0).values()) >= 0
    probe.close()


def test_a_server_that_goes_away_is_told(postgresql_url: str) -> None:
    probe = Postgres(postgresql_url)
    probe.read(0.0)
    with psycopg.connect(postgresql_url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plimsoll'")
    with pytest.raises(ProbeError, match=r"terminat"):
        probe.read(1.0)
    assert probe.read(2.0)["connections"] == 0.0, "and it connects again"
    probe.close()


def test_sessions_that_wait_for_a_lock_are_counted(postgresql_url: str) -> None:
    probe = Postgres(postgresql_url, "db")
    with psycopg.connect(postgresql_url) as holder, ThreadPoolExecutor(1) as pool:
        holder.execute("CREATE TABLE locked (x int)")
        holder.commit()
        holder.execute("LOCK TABLE locked")

        def wait() -> None:
            with psycopg.connect(postgresql_url, autocommit=True) as other:
                other.execute("SELECT * FROM locked")

        waiting = pool.submit(wait)
        deadline = time.monotonic() + TIMEOUT_S
        figures = probe.read(0.0)
        while not figures["waiting for locks"] and time.monotonic() < deadline:
            time.sleep(0.05)
            figures = probe.read(time.monotonic())
        assert (figures["waiting for locks"], figures["active"]) == (1.0, 1.0)
        holder.rollback()
        waiting.result(TIMEOUT_S)
    assert probe.source == "db"
    probe.close()


def test_statements_are_those_since_the_first_sample(postgresql_url: str) -> None:
    with psycopg.connect(postgresql_url, autocommit=True) as other:
        without = Postgres(postgresql_url)
        without.read(0.0)
        assert without.facts() is None, "the extension is not there"
        without.close()
        other.execute("CREATE EXTENSION pg_stat_statements")
        other.execute("SELECT 1 AS before")
        probe = Postgres(postgresql_url)
        probe.read(0.0)
        for number in range(7):
            other.execute("SELECT generate_series(1, 3), %s::int AS during", (number,))
        found = {statement.query: statement for statement in probe.facts().statements}
        (query,) = (each for each in found if "AS during" in each)
        assert (found[query].calls, found[query].rows) == (7, 21)
        assert found[query].ms > 0
        assert not any("AS before" in each for each in found)
        probe.close()


def test_only_so_many_statements_are_kept_and_it_is_said(postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(postgresql_url, autocommit=True) as other:
        other.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        monkeypatch.setattr(postgres, "MOST_READ", 3)
        probe = Postgres(postgresql_url)
        for number in range(6):
            other.execute(f"SELECT {', '.join('1' * (number + 1))}, '{'x' * 3000}'")
        probe.read(0.0)
        assert probe._first is not None
        assert [each.query for each in probe._first.values()] == ["", "", ""]
        assert len(probe._read_statements(other)) == 3
        assert probe.notes() == (f"{probe.source}: only the 3 statements with the most time are compared",)
        probe.close()


def test_a_server_that_there_is_not_is_named_without_its_password() -> None:
    probe = Postgres("postgresql://me:s3cret@127.0.0.1:9/x")
    assert probe.source == "postgresql://me:***@127.0.0.1:9/x"
    with pytest.raises(ProbeError, match="refused") as caught:
        probe.read(0.0)
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_psycopg_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"pip install 'plimsoll-lab\[postgresql\]'"):
        Postgres("postgresql://127.0.0.1:9/x")
