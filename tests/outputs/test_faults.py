"""Receivers that are restarted, refuse, break off or are slow: every output delivers what can be delivered, and counts
what cannot. What arrives is compared with what a receiver without faults gets of the same seconds."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from tests.outputs.otlp.receivers import grpc_receiving
from tests.outputs.receiver import receiving

from plimsoll.experiment.ports import free_port
from plimsoll.outputs import delivery, transports
from plimsoll.outputs.kinds import OUTPUTS, opened
from plimsoll.outputs.output import OutputEvent, OutputRun, OutputSecond
from plimsoll.run.coordinator import output_thread
from plimsoll.run.coordinator.output_thread import OutputThread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.command import Command, CountingTarget
    from tests.outputs.otlp.receivers import GrpcReceiver
    from tests.outputs.receiver import Receiver

TEXTS = {
    "jsonl": "jsonl={url}/in",
    "prometheus": "prometheus={url},interval=2",
    "influxdb": "influxdb={url},db=load",
    "otlp": "otlp={url},interval=2",
    "otlp by grpc": "otlp={url},interval=2,protocol=grpc",
    "webhook": "webhook={url}/hook",
}
"""Outputs whose receivers confirm what they get."""
STATUSES = {
    429: grpc.StatusCode.RESOURCE_EXHAUSTED, 500: grpc.StatusCode.UNAVAILABLE, 503: grpc.StatusCode.UNAVAILABLE,
    401: grpc.StatusCode.UNAUTHENTICATED,
}  # fmt: skip
END = OutputEvent(
    "end",
    1_800_000_011.0,
    "Over.",
    {"verdict": "passed", "answer": [], "reasons": [], "thresholds": [], "exit_code": 0},
)


@dataclass
class AnyReceiver:
    """An HTTP or a gRPC receiver."""

    http: Receiver | None = None
    grpc: GrpcReceiver | None = None

    @property
    def url(self) -> str:
        receiver = self.http or self.grpc
        assert receiver is not None
        return receiver.url

    @property
    def content(self) -> dict[str, Any]:
        """By path or type: everything that it took. Lines arrive together or one by one."""
        content: dict[str, Any] = {}
        if self.http is not None:
            for path, _, body in self.http.requests:
                content[path] = content.get(path, b"") + body
        if self.grpc is not None:
            for message in self.grpc.messages:
                content.setdefault(type(message).__name__, []).append(message)
        return content

    def behave(self, status: Callable[[], int]) -> None:
        """status: of the next response; it may wait."""

        def answer() -> tuple[int, dict[str, str]]:
            code = status()
            return code, {"Retry-After": "0"} if code == 429 else {}

        if self.http is not None:
            self.http.answer = answer
        if self.grpc is not None:
            self.grpc.refuse = lambda: STATUSES.get(status())


@contextmanager
def any_receiver(name: str, port: int = 0) -> Iterator[AnyReceiver]:
    if name.endswith("grpc"):
        with grpc_receiving(port) as grpc_receiver:
            yield AnyReceiver(grpc=grpc_receiver)
    else:
        with receiving(port) as receiver:
            yield AnyReceiver(http=receiver)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(delivery, "LONGEST_PAUSE_S", 0.05)
    monkeypatch.setattr(transports, "TIMEOUT_S", 60.0)


def test_no_output_is_left_out() -> None:
    assert {name.partition(" ")[0] for name in TEXTS} == set(OUTPUTS) - {"statsd"}  # UDP confirms nothing


def _send(name: str, url: str, run: OutputRun, seconds: list[OutputSecond]) -> Any:
    """All seconds. Returns what was not delivered."""
    _, output = opened(TEXTS[name].format(url=url), has_page=False)
    output.open(run)
    for second in seconds:
        output.second(second)
    missing = output.flush(60.0)
    output.event(END)
    missing = output.flush(60.0) or missing
    output.close()
    return missing


def _faultless(name: str, run: OutputRun, seconds: list[OutputSecond]) -> dict[str, Any]:
    with any_receiver(name) as receiver:
        assert _send(name, receiver.url, run, seconds) is None
        assert receiver.content
        return receiver.content


@pytest.mark.parametrize("status", [429, 500])
@pytest.mark.parametrize("name", TEXTS)
def test_what_is_refused_for_now_is_sent_again(
    name: str, status: int, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    seconds = [make_second(second) for second in range(6)]
    numbers = count()
    with any_receiver(name) as receiver:
        # Of every three requests the first two are refused.
        receiver.behave(lambda: 200 if next(numbers) % 3 == 2 else status)
        assert _send(name, receiver.url, output_run, seconds) is None
        found = receiver.content
    assert found == _faultless(name, output_run, seconds)


@pytest.mark.parametrize("name", TEXTS)
def test_a_receiver_that_is_restarted_has_everything(
    name: str, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    seconds = [make_second(second) for second in range(6)]
    port = free_port()
    _, output = opened(TEXTS[name].format(url=f"http://127.0.0.1:{port}"), has_page=False)
    with any_receiver(name, port) as first:
        output.open(output_run)
        for second in seconds[:2]:
            output.second(second)
        before = first.content
    for second in seconds[2:4]:
        output.second(second)
    with any_receiver(name, port) as again:
        for second in seconds[4:]:
            output.second(second)
        assert output.flush(60.0) is None
        output.event(END)
        assert output.flush(60.0) is None
        output.close()
        after = again.content
    wanted = _faultless(name, output_run, seconds)
    empty = [] if name.endswith("grpc") else b""
    assert {key: before.get(key, empty) + after.get(key, empty) for key in wanted} == wanted


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_refused_for_good_is_counted_and_the_reason_is_said(
    name: str, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    seconds = [make_second(second) for second in range(6)]
    with any_receiver(name) as receiver:
        receiver.behave(lambda: 401)
        missing = _send(name, receiver.url, output_run, seconds)
        assert receiver.content == {}
    assert missing.messages == (1 if name == "webhook" else 7)
    assert ("UNAUTHENTICATED" if name.endswith("grpc") else "status 401") in missing.reason


@pytest.mark.parametrize("name", TEXTS)
def test_a_slow_receiver_holds_up_nobody_and_gets_everything(
    name: str, output_run: OutputRun, make_second: Callable[..., OutputSecond], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_thread, "FLUSH_S", 240.0)
    seconds = [make_second(second) for second in range(30)]
    is_released = threading.Event()

    def wait() -> int:
        assert is_released.wait(60)
        return 200

    with any_receiver(name) as receiver:
        receiver.behave(wait)
        target, output = opened(TEXTS[name].format(url=receiver.url), has_page=False)
        thread = OutputThread(target.name, output)
        thread.start(output_run)
        # None of these calls returns late: the receiver answers only after the last one.
        for second in seconds:
            thread.put(second)
        is_released.set()
        assert thread.flush()(time.monotonic() + 120) == ""
        thread.put(END)
        assert thread.flush()(time.monotonic() + 120) == ""
        thread.close()
        found = receiver.content
    assert found == _faultless(name, output_run, seconds)


def test_a_backlog_beyond_the_queue_is_dropped_and_said(
    output_run: OutputRun, make_second: Callable[..., OutputSecond], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_thread, "FLUSH_S", 240.0)
    monkeypatch.setattr(output_thread, "WAITING", 10)
    second = make_second(0)
    is_asked, is_released = threading.Event(), threading.Event()

    def wait() -> int:
        is_asked.set()
        assert is_released.wait(60)
        return 200

    with any_receiver("jsonl") as receiver:
        receiver.behave(wait)
        target, output = opened(TEXTS["jsonl"].format(url=receiver.url), has_page=False)
        thread = OutputThread(target.name, output)
        thread.start(output_run)
        thread.put(second)
        assert is_asked.wait(60)
        for _ in range(output_thread.WAITING + 7):
            thread.put(second)
        is_released.set()
        # The queue has room for the question only once the thread has taken something of it.
        lost = thread.flush()(time.monotonic() + 120)
        while "does not end" in lost:
            lost = thread.flush()(time.monotonic() + 120)
        thread.close()
        (body,) = receiver.content.values()
    assert lost.endswith("7 messages dropped because it was too slow")
    assert len(body.splitlines()) == output_thread.WAITING + 1


def test_a_run_says_of_each_output_what_was_refused(plimsoll: Command, target: CountingTarget) -> None:
    texts = {name: TEXTS[name] for name in TEXTS if name != "webhook"}
    with receiving() as receiver, grpc_receiving() as grpc_receiver:
        receiver.answer = lambda: (401, {})
        grpc_receiver.refuse = lambda: grpc.StatusCode.UNAUTHENTICATED
        words = []
        for name, text in texts.items():
            words += ["--out", text.format(url=grpc_receiver.url if name.endswith("grpc") else receiver.url)]
        done = plimsoll("run", target.url, "-u", "1", "-t", "3", *words)
    assert done.code == 0, done
    notes = plimsoll.stored()["run"]["notes"]
    assert len(notes) == len(texts)
    for note in notes:
        assert "not delivered: " in note
        assert "401" in note or "UNAUTHENTICATED" in note
