"""How often a locustfile is read for the page."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.command import wait_until

from plimsoll.server.control.description import Description
from plimsoll.server.control.session import PageSession
from plimsoll.server.messages import RunRequest

if TYPE_CHECKING:
    from pathlib import Path


def _session(path: Path, describe: Any) -> PageSession:
    plan = SimpleNamespace(locustfiles=(str(path),), source=None)
    requests: Any = SimpleNamespace(plan=plan, request=RunRequest(), has_plan=False, picks=False, source="")
    return PageSession(requests, SimpleNamespace(), describe, print)  # type: ignore[arg-type]


def test_who_waits_while_a_broken_file_is_read_takes_that_answer(tmp_path, monkeypatch):
    read: list[int] = []
    looked: list[float] = []
    may_end = threading.Event()

    def describe(_: object) -> Description:
        read.append(1)
        assert may_end.wait(60)
        return Description(error="it is broken")

    def now() -> float:
        looked.append(float(len(looked)))
        return looked[-1]

    monkeypatch.setattr("plimsoll.server.control.session.time", SimpleNamespace(monotonic=now))
    session = _session(tmp_path / "locustfile.py", describe)
    answers: list[str] = []

    def ask() -> None:
        answers.append(session.form().error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for each in threads:
        each.start()
    wait_until(lambda: len(looked) == 4)
    assert not answers
    may_end.set()
    for each in threads:
        each.join(60)
    assert answers == ["it is broken"] * 4
    assert len(read) == 1


def test_a_broken_file_is_read_again_for_the_next_who_asks(tmp_path):
    errors = iter(["the module shop is missing", ""])
    session = _session(tmp_path / "locustfile.py", lambda _: Description(error=next(errors)))
    assert [session.form().error for _ in range(3)] == ["the module shop is missing", "", ""]
