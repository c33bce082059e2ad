"""What tests of several parts need: recorded values made by hand, the command and a target of its own, a real
PostgreSQL, a real browser."""

from __future__ import annotations

import gc
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from tests.command import Command, CountingTarget
from tests.socket_server import EchoServer

from plimsoll._engine import Histogram
from plimsoll.record import Health, Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from playwright.sync_api import Browser
    from tests.grpc_server import GrpcServer
    from tests.web.browser_session import BrowserSession


# On a busy machine an example may take any time.
settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any speed")

# Times are shown in the zone of the machine, with its name.
os.environ["TZ"] = "UTC"
time.tzset()


def pytest_collection_finish() -> None:
    # What collection has made stays to the end: the collector need not look at it again and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def pytest_configure() -> None:
    # Commands that a shell starts in the background ignore Ctrl-C, and those of nohup ignore SIGHUP. What tests start
    # would inherit both.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_runtest_setup() -> None:
    # Unix time. CI has a limited time for long tests.
    before = os.environ.get("TESTS_BEGIN_BEFORE")
    if before and time.time() > float(before):
        pytest.skip("the time for long tests is over (scripts/long_tests.py)")


@pytest.fixture(scope="session")
def make_interval() -> Callable[..., Interval]:
    """An interval of exchanges that took these times, as the engine would have recorded it."""

    def make(
        ms: Sequence[float] = (),
        *,
        second: int = 0,
        method: str = "GET",
        name: str = "/",
        outcome: str = "success",
        body: int = 100,
        untimed: int = 0,
    ) -> Interval:
        nanos = [round(each * 1e6) for each in ms]
        interval = Interval(second, method, name, outcome, count=len(nanos) + untimed, untimed=untimed)
        interval.bytes_body = body * interval.count
        interval.bytes_in, interval.bytes_out = interval.bytes_body + 50 * interval.count, 80 * interval.count
        interval.response_sum = interval.service_sum = sum(nanos)
        interval.response_min, interval.response_max = min(nanos, default=0), max(nanos, default=0)
        interval.overflow = sum(each > 3_600_000_000_000 for each in nanos)
        for each in nanos:
            interval.response.record((each + 500) // 1000)
            interval.service.record((each + 500) // 1000)
        return interval

    return make


@pytest.fixture(scope="session")
def make_health() -> Callable[..., Health]:
    """A second of a worker whose lag and delay were these."""

    def make(
        second: int = 0,
        worker: int = 0,
        *,
        lag_us: Sequence[int] = (),
        delay_us: Sequence[int] = (),
        cpu: float = 0.0,
        users: int = 0,
        exhausted: int = 0,
    ) -> Health:
        health = Health(second, worker, Histogram(), Histogram(), cpu=cpu, users=users, exhausted=exhausted)
        for each in lag_us:
            health.lag.record(each)
        for each in delay_us:
            health.delay.record(each)
        return health

    return make


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The directory of the socket of a private server, which is stopped at the end."""
    programs = _postgresql_programs()
    if programs is None:
        message = "no PostgreSQL server programs found (Debian: apt-get install postgresql)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    # A server refuses to run as root, and its socket's path must be short.
    user = _unprivileged()
    directory = Path(tempfile.mkdtemp(prefix="plimsoll-pg-"))
    try:
        if user:
            shutil.chown(directory, user)
        # A socket in a directory of its own cannot be taken by anybody else, as a port could.
        options = f"-c listen_addresses= -c unix_socket_directories={directory} -c fsync=off"
        options += " -c shared_preload_libraries=pg_stat_statements"
        control = [str(programs / "pg_ctl"), "-D", str(directory / "data"), "-w", "-t", "60"]
        _run([str(programs / "initdb"), "-D", str(directory / "data"), "-A", "trust", "-U", "plimsoll"], user)
        _run([*control, "-l", str(directory / "log"), "-o", options, "start"], user)
        try:
            yield str(directory)
        finally:
            _run([*control, "-m", "immediate", "stop"], user)
    finally:
        shutil.rmtree(directory)


@pytest.fixture
def postgresql_url(postgresql_server: str) -> str:
    """A fresh database."""
    return _fresh_database(postgresql_server)


@pytest.fixture
def another_postgresql_url(postgresql_server: str) -> str:
    """A second fresh database of the same test."""
    return _fresh_database(postgresql_server)


def _fresh_database(postgresql_server: str) -> str:
    with psycopg.connect(f"postgresql://plimsoll@/postgres?host={postgresql_server}", autocommit=True) as connection:
        row = connection.execute("SELECT count(*) FROM pg_database").fetchone()
        assert row
        name = f"test{row[0]}"
        connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
    return f"postgresql://plimsoll@/{name}?host={postgresql_server}"


@pytest.fixture
def target() -> Iterator[CountingTarget]:
    server = CountingTarget()
    yield server
    server.close()


@pytest.fixture
def plimsoll(tmp_path: Path) -> Iterator[Command]:
    command = Command(tmp_path)
    yield command
    command.clean_up()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of a module and not of all: as long as there is one, an event loop runs in this thread, which others then cannot
    have."""
    # Few tests need it, and it takes a while to import.
    from playwright.sync_api import sync_playwright
    from tests.web.browser_session import launch

    with sync_playwright() as playwright:
        launched = launch(playwright)
        yield launched
        launched.close()


@pytest.fixture
def browser_session(browser: Browser) -> Iterator[BrowserSession]:
    from tests.web.browser_session import BrowserSession

    opened = BrowserSession(browser)
    yield opened
    opened.close()


def _postgresql_programs() -> Path | None:
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return versions[-1].parent if versions else None


def _unprivileged() -> str | None:
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)


def _run(command: list[str], user: str | None) -> None:
    done = subprocess.run(
        command,
        user=user,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Files with a certificate for 127.0.0.1 that is its own authority, and its key."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def other_certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The same of another authority."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


def make_certificate(folder: Path) -> tuple[str, str]:
    """A new certificate for 127.0.0.1 in a folder, and its key."""
    certificate, key = str(folder / "certificate.pem"), str(folder / "key.pem")
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*command, "-out", certificate, "-keyout", key], check=True, capture_output=True)
    return certificate, key


@pytest.fixture
def grpc_server() -> Iterator[GrpcServer]:
    # Few tests need it, and it starts threads.
    from tests.grpc_server import GrpcServer

    server = GrpcServer()
    yield server
    server.close()


@pytest.fixture
def echo() -> Iterator[EchoServer]:
    server = EchoServer()
    yield server
    server.close()
