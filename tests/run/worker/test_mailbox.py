from __future__ import annotations

from typing import Any

import gevent
import pytest

from plimsoll.run.worker.mailbox import Mailbox
from plimsoll.users.exceptions import StopTest


@pytest.fixture
def quits() -> list[int]:
    return []


@pytest.fixture
def mailbox(quits: list[int]) -> Mailbox:
    return Mailbox(lambda: quits.append(1))


def _raise(error: BaseException) -> None:
    raise error


def test_calls_are_made_in_order_one_after_the_other(mailbox: Mailbox) -> None:
    made: list[str] = []

    def slow(name: str) -> None:
        made.append(f"{name} begins")
        gevent.sleep(0)
        made.append(f"{name} ends")

    for name in ("a", "b"):
        mailbox.put(slow, name)
    assert made == [], "whoever puts something in is not held up"
    assert mailbox.wait(30)
    assert made == ["a begins", "a ends", "b begins", "b ends"]


def test_waiting_has_an_end(mailbox: Mailbox) -> None:
    mailbox.put(gevent.sleep, 1000)
    assert not mailbox.wait(0.01)


def test_a_call_that_fails_does_not_keep_the_next_one(
    mailbox: Mailbox, quits: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    made: list[int] = []
    mailbox.put(_raise, ValueError("boom"))
    mailbox.put(_raise, StopTest("enough"))
    mailbox.put(made.append, 1)
    assert mailbox.wait(30)
    assert (made, quits) == ([1], [1])
    assert "boom" in caplog.text and "enough" in caplog.text


def test_sys_exit_reaches_whoever_waits_and_the_next_call_is_made(mailbox: Mailbox) -> None:
    made: list[Any] = []
    mailbox.put(_raise, SystemExit(3))
    mailbox.put(made.append, 1)
    with pytest.raises(SystemExit, match="3"):
        gevent.sleep(30)
    assert mailbox.wait(30)
    assert made == [1]
