"""Real processes with streams that cannot hold what is printed, or that are closed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from plimsoll.run import standard_streams
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.command import Command, CountingTarget

ENCODINGS = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "cp437": {"PYTHONIOENCODING": "cp437:strict"},
    "utf-8": {"PYTHONIOENCODING": "utf-8:strict"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
VERBS = {
    "run": ("run", "-f", "locustfile.py", "--headless", "-u", "1", "--iterations", "2", "-H", "TARGET"),
    "show": ("show", "last"),
    "report": ("report", "last"),
    "compare": ("compare", "FIRST", "last"),
    "doctor": ("doctor",),
}
LOCUSTFILE = """
from locust import HttpUser, task


class Reader(HttpUser):
    @task
    def read(self):
        print("a user says: naïve ≤ 漢")
        self.client.get("/", name="/prüfen ≤ 漢")
"""


@pytest.fixture(autouse=True)
def same_streams() -> Iterator[None]:
    before = sys.stdin, sys.stdout, sys.stderr
    yield
    sys.stdin, sys.stdout, sys.stderr = before


@pytest.fixture
def two_runs(plimsoll: Command, target: CountingTarget) -> Command:
    plimsoll.write(LOCUSTFILE)
    plimsoll.environment |= {"PYTHONIOENCODING": "utf-8"}
    for _ in range(2):
        assert plimsoll(*(target.url if word == "TARGET" else word for word in VERBS["run"])).code == 0
    del plimsoll.environment["PYTHONIOENCODING"]
    return plimsoll


def _words(verb: str, commands: Command, target: CountingTarget) -> tuple[str, ...]:
    places = {"TARGET": target.url, "FIRST": json.loads(commands("runs", "--json").out)["runs"][-1]["id"]}
    return tuple(places.get(word, word) for word in VERBS[verb])


def _bytes_of(plimsoll: Command, words: tuple[str, ...], **environment: str) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [sys.executable, "-c", "from plimsoll.cli import main; main()", *words],
        env=plimsoll.environment | environment, cwd=plimsoll.directory, capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_writes_to_a_stream_of_any_encoding(verb: str, two_runs: Command, target: CountingTarget) -> None:
    words = _words(verb, two_runs, target)
    code, _, _ = _bytes_of(two_runs, words, PYTHONIOENCODING="utf-8")
    # All verbs prepare their streams with the same function; one of them shows what it does with each encoding.
    for encoding in ENCODINGS if verb == "show" else ("ascii", "C"):
        done = _bytes_of(two_runs, words, **ENCODINGS[encoding])
        assert done[0] == code, (encoding, done)
        for stream in done[1:]:
            text = stream.decode({"C": "ascii"}.get(encoding, encoding))
            assert "Traceback" not in text
            assert "damaged" not in text
        assert done[1], encoding


def test_what_has_no_place_is_replaced_by_something_readable(two_runs: Command) -> None:
    shown = _bytes_of(two_runs, VERBS["show"], PYTHONIOENCODING="latin-1")[1].decode("latin-1")
    assert "/prüfen <= ?" in shown
    shown = _bytes_of(two_runs, VERBS["show"], PYTHONIOENCODING="ascii")[1].decode("ascii")
    assert "/prufen <= ?" in shown


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_cost_a_command_nothing(closed: str, two_runs: Command, target: CountingTarget) -> None:
    program = f'{sys.executable} -c "from plimsoll.cli import main; main()"'
    for verb in VERBS if closed == "2>&-" else ("run", "show"):
        words = _words(verb, two_runs, target)
        done = subprocess.run(
            ["sh", "-c", f'{program} "$@" {closed}', "sh", *words],
            env=two_runs.environment, cwd=two_runs.directory, capture_output=True, check=False, text=True,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        assert done.returncode == two_runs(*words).code, (words, done)
    # The database has not got what was meant for a closed stream.
    assert two_runs("runs").code == 0


def test_streams_that_are_not_there_are_those_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    standard_streams.prepare()
    print("≤")
    print("≤", file=sys.stderr)
    assert not sys.stdout.isatty()
    sys.stdout.close()
    sys.stderr.close()


@pytest.mark.parametrize(
    ("encoding", "errors", "text", "written"),
    [
        ("ascii", "strict", "5 µs – 3 × 2² ≤ …", b"5 us - 3 x 22 <= ..."),
        ("ascii", "surrogateescape", "✓ ✗ \udcff", b"+ x ?"),
        ("latin-1", "strict", "5 µs – é", b"5 \xb5s - \xe9"),
        ("latin-1", "surrogateescape", "≤", b"<="),
        ("utf-8", "strict", "≤ \udcff", "≤ ?".encode()),
        ("utf-8", "surrogateescape", "\udcff", b"\xff"),
        ("shift_jis", "strict", "漢 é", "漢 e".encode("shift_jis")),
    ],
)
def test_text_is_kept_as_far_as_the_encoding_goes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, encoding: str, errors: str, text: str, written: bytes
) -> None:
    with (tmp_path / "out").open("w", encoding=encoding, errors=errors, newline="") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        standard_streams.prepare()
        standard_streams.prepare()
        sys.stdout.write(text)
    assert (tmp_path / "out").read_bytes() == written


def test_on_a_terminal_the_last_line_says_where_the_run_is_and_what_to_type_next(plimsoll, target):
    controller, terminal = pty.openpty()
    process = plimsoll.start("run", target.url, "--headless", "--iterations", "1", stderr=terminal)
    os.close(terminal)
    plimsoll.end(process)
    said = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(controller, 65536):
            said += part
    os.close(controller)
    with Store.open(str(plimsoll.store)) as store:
        run = store.run("last").id
    last = said.decode().splitlines()[-1]
    assert last == f"kept as {run} · plimsoll report last -o report.html · plimsoll serve"
