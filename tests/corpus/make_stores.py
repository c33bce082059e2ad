"""Makes the stores of the corpus anew: `python -m tests.corpus.make_stores [STORE…]`

Real runs of two to five seconds against servers of this process: about five minutes. The stores are packed into
tests/corpus/stores, and are not made again when the package changes: outputs of the same stores are what is compared.
Afterwards `python -m tests.corpus --accept` writes the outputs.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import psutil
from alembic import command
from alembic.config import Config
from labs.truth.http2_target import Http2Target
from tests.corpus.archives import STORES, pack
from tests.corpus.cases import CASES, FILES, HISTORY, HISTORY_RUNS, IMPORTS, NOT_SHOWN, SEARCH, Case
from tests.corpus.target import serve
from tests.grpc_server import GrpcServer
from tests.socket_server import EchoServer

from plimsoll.store import Store
from plimsoll.store.database import Database
from plimsoll.store.schema import VERSION_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
OLD_VERSIONS = ("0001", "0004", "0006", "0008", "0010", "0011")


class Maker:
    """Runs the command in a folder of its own. servers: what the placeholders of the cases stand for."""

    def __init__(self, folder: Path, servers: dict[str, str]) -> None:
        self.folder, self._servers = folder, servers
        for name, text in FILES.items():
            (folder / name).write_text(self._filled(text))

    def plimsoll(self, verb: str, arguments: str, store: str, end: str = "itself") -> None:
        words = [verb, *shlex.split(self._filled(arguments)), "--store", store]
        print(f"plimsoll {shlex.join(words)}", flush=True)
        own = ("LOCUST_", "PLIMSOLL_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        process = subprocess.Popen(
            [sys.executable, "-m", "plimsoll", *words],
            cwd=self.folder,
            env={**environment, "HOME": str(self.folder), "COLUMNS": "120", "PYTHONPATH": str(ROOT / "python")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if end != "itself":
            self._end(process, end, self.folder / store)
        _, said = process.communicate(timeout=300)
        print(f"  exit code {process.returncode}\n{said if process.returncode == 2 else ''}", end="", flush=True)

    def run(self, case: Case, store: str) -> None:
        label = "" if "--name" in case.arguments else f" --name {case.name}"
        self.plimsoll("run", f"{case.arguments} --headless{label}", store, case.end)

    def _filled(self, text: str) -> str:
        for name, value in self._servers.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def _end(self, process: subprocess.Popen[str], how: str, store: Path) -> None:
        before = _seconds_in(store)
        while _seconds_in(store) < before + 2 and process.poll() is None:
            time.sleep(0.1)
        if how == "interrupted":
            process.send_signal(signal.SIGINT)
        elif how == "killed":
            process.kill()
        else:
            psutil.Process(process.pid).children()[-1].kill()


def _seconds_in(store: Path) -> int:
    """How many rows tell of seconds of runs."""
    with contextlib.closing(sqlite3.connect(store)) as connection:
        return int(connection.execute("SELECT count(DISTINCT run || '/' || second) FROM health").fetchone()[0])


def make_runs(maker: Maker) -> None:
    for case in CASES:
        maker.run(case, "runs.db")
    with Store.open(str(maker.folder / "runs.db")) as store:
        ids = store.ids()
        store.labels.of_run(ids[-1], tags=["release", "ümlaut"], note="A note\nof two lines, with <b>.")
        store.labels.of_run(ids[-2], tags=["nightly"])


def make_thresholds(maker: Maker) -> None:
    maker.run(NOT_SHOWN, "thresholds.db")


def make_history(maker: Maker) -> None:
    for words in (["init", "-q", "-b", "main"], ["add", "arrivals.txt"], ["commit", "-q", "-m", "first"]):
        author = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *author, *words], cwd=maker.folder, check=True)
    for _ in range(HISTORY_RUNS):
        maker.run(HISTORY, "history.db")
    with Store.open(str(maker.folder / "history.db")) as store:
        for run in store.ids():
            store.labels.of_run(run, tags=["nightly"])


def make_experiments(maker: Maker) -> None:
    maker.plimsoll("experiment", "experiment.toml --yes", "experiments.db")
    maker.plimsoll("capacity", f"{SEARCH} --name search", "experiments.db")


def make_imports(maker: Maker) -> None:
    for name in IMPORTS:
        (maker.folder / name).write_bytes((ROOT / "fuzz" / "seeds" / "results" / name).read_bytes())
        known = "" if name.startswith("tables") else "--users 10 --duration 60s"
        maker.plimsoll("import", f"{name} {known}", "imports.db")


def make_versions(maker: Maker) -> None:
    """Runs as older versions have kept them: of today's, the columns that there were."""
    for case in CASES:
        if case.name in ("url", "failures", "plan"):
            maker.run(case, "today.db")
    for version in OLD_VERSIONS:
        database = Database(str(maker.folder / f"version-{version}.db"))
        config = Config()
        config.set_main_option("script_location", "plimsoll.store:migrations")
        with database.write("make its tables") as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, version)
        database.close()
        with contextlib.closing(sqlite3.connect(maker.folder / f"version-{version}.db")) as old, old:
            old.execute("ATTACH ? AS today", (str(maker.folder / "today.db"),))
            for table in _tables(old, "main"):
                if table in _tables(old, "today") and table != VERSION_TABLE:
                    _copy(old, table)
    (maker.folder / "today.db").unlink()


def _tables(connection: sqlite3.Connection, schema: str) -> list[str]:
    return [row[0] for row in connection.execute(f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table'")]


def _copy(connection: sqlite3.Connection, table: str) -> None:
    """The columns of both; what must have a value and is not there any more is 0, or empty."""
    new = {row[1] for row in connection.execute(f"PRAGMA today.table_info('{table}')")}
    taken = {}
    for _, name, kind, needed, default, _ in connection.execute(f"PRAGMA main.table_info('{table}')"):
        if name in new:
            taken[name] = f'"{name}"'
        elif needed and default is None:
            taken[name] = "0" if kind in ("INTEGER", "FLOAT", "BIGINT") else "''"
    names = ", ".join(f'"{name}"' for name in taken)
    connection.execute(f"INSERT INTO main.{table} ({names}) SELECT {', '.join(taken.values())} FROM today.{table}")


def finish(store: Path) -> None:
    """One file, without a log beside it, that does not say where the sources were."""
    with contextlib.closing(sqlite3.connect(store)) as connection:
        for table in _tables(connection, "main"):
            for _, name, kind, *_ in connection.execute(f"PRAGMA table_info('{table}')").fetchall():
                if kind.startswith(("TEXT", "VARCHAR", "JSON")):
                    change = f'UPDATE "{table}" SET "{name}" = replace("{name}", ?, ?) WHERE instr("{name}", ?)'
                    connection.execute(change, (str(ROOT), "/plimsoll", str(ROOT)))
        connection.commit()
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")


MAKERS: dict[str, Callable[[Maker], None]] = {
    "runs": make_runs,
    "thresholds": make_thresholds,
    "history": make_history,
    "experiments": make_experiments,
    "imports": make_imports,
    "versions": make_versions,
}


@contextlib.contextmanager
def servers() -> Iterator[dict[str, str]]:
    http, http2, sockets, grpc = serve(), Http2Target(), EchoServer(), GrpcServer()
    with socket.create_server(("127.0.0.1", 0)) as unused:
        closed = unused.getsockname()[1]
    yield {
        "url": f"http://127.0.0.1:{http.server_port}",
        "http2": http2.place,
        "sockets": sockets.place,
        "grpc": grpc.place,
        "closed": str(closed),
        "pid": str(os.getpid()),
    }
    for server in (http2, sockets, grpc):
        server.close()
    http.shutdown()


def main(names: list[str]) -> int:
    if unknown := set(names) - MAKERS.keys():
        print(f"no store is called {', '.join(sorted(unknown))}; there are {', '.join(MAKERS)}", file=sys.stderr)
        return 2
    for name in names or MAKERS:
        with servers() as found, TemporaryDirectory(prefix="corpus-") as folder:
            MAKERS[name](Maker(Path(folder), found))
            files = sorted(Path(folder).glob("*.db"))
            for file in files:
                finish(file)
            size = pack(STORES / f"{name}.tar.xz", {file.name: file.read_bytes() for file in files})
            print(f"{name}: {size:,} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
