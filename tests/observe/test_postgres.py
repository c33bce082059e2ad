from __future__ import annotations

import sys
import time

import psycopg
import pytest

from plimsoll.errors import UsageError
from plimsoll.observe.postgres import UNITS, Postgres
from plimsoll.observe.sampler import ProbeError

TIMEOUT_S = 60.0


def test_what_the_database_does_is_told_per_second(postgresql_url: str) -> None:
    probe = Postgres(postgresql_url)
    first = probe.read(0.0)
    assert first == {"connections": 0.0}
    with psycopg.connect(postgresql_url, autocommit=True) as busy:
        busy.execute("CREATE TABLE t (x int)")
        for number in range(50):
            busy.execute("INSERT INTO t VALUES (%s)", (number,))
        with pytest.raises(psycopg.errors.DivisionByZero):
            busy.execute("SELECT 1 / 0")
        assert probe.read(1.0)["connections"] == 1.0
    # Its sessions tell the server what they did when they end, at the latest.
    totals = dict.fromkeys(UNITS, 0.0)
    deadline = time.monotonic() + TIMEOUT_S
    now = 1.0
    while totals["commits"] < 51 and time.monotonic() < deadline:
        time.sleep(0.05)
        now += 0.5
        for name, value in probe.read(now).items():
            totals[name] += 0.5 * value
    assert totals["commits"] >= 51
    assert totals["rollbacks"] >= 1
    assert totals["blocks hit"] > 0
    assert totals["deadlocks"] == 0
    figures = probe.read(now + 1)
    assert set(figures) == set(UNITS)
    assert figures["connections"] == 0.0
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
    with pytest.raises(ProbeError, match=r"is not observed any more: .*terminat"):
        probe.read(1.0)
    probe.close()


def test_a_server_that_there_is_not_is_named_without_its_password() -> None:
    with pytest.raises(ProbeError) as caught:
        Postgres("postgresql://me:s3cret@127.0.0.1:9/x")
    assert str(caught.value).startswith("postgresql://me:***@127.0.0.1:9/x cannot be observed: ")
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_psycopg_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"pip install 'plimsoll\[postgresql\]'"):
        Postgres("postgresql://127.0.0.1:9/x")
