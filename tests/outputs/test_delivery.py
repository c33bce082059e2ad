"""What becomes of messages whose receiver is away, slow, or refuses them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from tests.outputs.receiver import receiving

from plimsoll.experiment.ports import free_port
from plimsoll.outputs import delivery
from plimsoll.outputs.delivery import Delivery
from plimsoll.outputs.output import Undelivered
from plimsoll.outputs.transports import HttpTransport, RetryError

if TYPE_CHECKING:
    from tests.outputs.receiver import Receiver


def _to(url: str, *, is_of_lines: bool = True) -> Delivery:
    return Delivery("output x", HttpTransport(url, "text/plain"), is_of_lines=is_of_lines)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(delivery, "LONGEST_PAUSE_S", 0.05)


def test_what_a_receiver_missed_is_sent_when_it_is_back(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    port = free_port()
    sender = _to(f"http://127.0.0.1:{port}/")
    with pytest.raises(RetryError, match="refused"):
        sender.reach()
    for number in range(3):
        sender.put(b"%d\n" % number)
    assert sender.flush(0.1) == Undelivered(3, "Connection refused")
    with receiving(port) as receiver:
        assert sender.flush(5.0) is None
        sender.close()
    assert receiver.body == b"0\n1\n2\n"
    assert [record.getMessage() for record in caplog.records] == ["output x takes figures again"]


def test_the_end_does_not_wait_for_the_rest_of_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "FIRST_PAUSE_S", 10_000.0)
    monkeypatch.setattr(delivery, "LONGEST_PAUSE_S", 10_000.0)
    port = free_port()
    sender = _to(f"http://127.0.0.1:{port}/")
    sender.put(b"a\n")
    with receiving(port) as receiver:
        sender.put(b"b\n")
        assert receiver.body == b""
        assert sender.flush(5.0) is None
        sender.close()
    assert receiver.body == b"a\nb\n"


@pytest.mark.parametrize("asked", ["9000", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_pause_that_the_receiver_asked_for_is_kept(asked: str) -> None:
    with receiving() as receiver:
        _answers(receiver, (429, {"Retry-After": asked}))
        sender = _to(receiver.url)
        sender.put(b"a\n")
        assert sender.flush(0.1) == Undelivered(1, "status 429 Too Many Requests: status 429")
        sender.close()
    assert receiver.body == b""


def test_messages_that_are_no_lines_are_sent_one_by_one() -> None:
    sender = _to("http://127.0.0.1:9/", is_of_lines=False)
    sender.put(b"a")
    sender.put(b"b")
    port = free_port()
    with receiving(port) as receiver:
        sender = _to(receiver.url, is_of_lines=False)
        sender.put(b"a")
        sender.put(b"b")
        assert sender.flush(5.0) is None
        sender.close()
    assert [body for _, _, body in receiver.requests] == [b"a", b"b"]


def _answers(receiver: Receiver, *answers: tuple[int, dict[str, str]]) -> None:
    left = list(answers)
    receiver.answer = lambda: left.pop(0) if left else (204, {})


def test_a_receiver_that_is_busy_gets_the_message_again(caplog: pytest.LogCaptureFixture) -> None:
    with receiving() as receiver:
        _answers(receiver, (429, {"Retry-After": "0"}), (503, {}))
        sender = _to(receiver.url)
        sender.put(b"a\n")
        assert sender.flush(5.0) is None
        sender.close()
    assert receiver.body == b"a\n"
    (failing, again) = (record.getMessage() for record in caplog.records)
    assert failing == (
        "output x: status 429 Too Many Requests: status 429; the run goes on, and its figures are held and sent again"
    )
    assert again == "output x takes figures again"


@pytest.mark.parametrize("asked", ["0", "Tue, 01 Jan 2019 00:00:00 GMT", "soon", "-1"])
def test_a_pause_that_is_over_or_not_understood_holds_up_nothing(asked: str) -> None:
    with receiving() as receiver:
        _answers(receiver, (503, {"Retry-After": asked}))
        sender = _to(receiver.url)
        sender.put(b"a\n")
        assert sender.flush(5.0) is None
        sender.close()
    assert receiver.body == b"a\n"


def test_what_comes_while_a_receiver_is_slow_is_sent_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "SLOW_S", 0.0)
    monkeypatch.setattr(delivery, "GATHER_S", 10_000.0)
    with receiving() as receiver:
        sender = _to(receiver.url)
        for text in (b"a\n", b"b\n", b"c\n"):
            sender.put(text)
        assert sender.unconfirmed == 2
        # The end waits for nothing else.
        assert sender.flush(5.0) is None
        sender.close()
    assert [body for _, _, body in receiver.requests] == [b"a\n", b"b\nc\n"]


def test_a_refused_message_is_lost_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with receiving() as receiver:
        _answers(receiver, (401, {}), (401, {}))
        sender = _to(receiver.url)
        for text in (b"a\n", b"b\n", b"c\n"):
            sender.put(text)
        assert sender.flush(5.0) == Undelivered(2, "status 401 Unauthorized: status 401")
        sender.close()
    assert receiver.body == b"c\n"
    assert [record.getMessage() for record in caplog.records] == [
        "output x refuses a message: status 401 Unauthorized: status 401"
    ]


def test_a_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    port = free_port()
    sender = _to(f"http://127.0.0.1:{port}/")
    with receiving(port) as first:
        _answers(first, (200, {"Connection": "close"}))
        sender.put(b"a\n")
    with receiving(port) as second:
        sender.put(b"b\n")
        assert sender.flush(5.0) is None
    sender.close()
    assert (first.body, second.body) == (b"a\n", b"b\n")


def test_the_oldest_messages_are_dropped_when_too_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "MOST_BYTES", 8)
    port = free_port()
    sender = _to(f"http://127.0.0.1:{port}/")
    for number in range(6):
        sender.put(b"%03d\n" % number)
    with receiving(port) as receiver:
        assert sender.flush(5.0) == Undelivered(4, "Connection refused")
        sender.close()
    assert receiver.body == b"004\n005\n"
