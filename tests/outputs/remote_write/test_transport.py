"""Version 2.0 of remote write, and receivers that know only version 1.0."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from tests.outputs.receiver import receiving
from tests.outputs.remote_write.messages import request_1, request_2, unpacked
from tests.outputs.sending import sent

from plimsoll.outputs.kinds import opened
from plimsoll.outputs.output import Undelivered

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.outputs.output import OutputRun, OutputSecond

WRITTEN = "X-Prometheus-Remote-Write-{}-Written"


def _kinds(receiver: object) -> list[str]:
    """Of the messages that a receiver took."""
    return [headers["X-Prometheus-Remote-Write-Version"] for _, headers, _ in receiver.requests]  # type: ignore[attr-defined]


def test_a_receiver_of_version_2_gets_it(output_run: OutputRun, make_second: Callable[..., OutputSecond]) -> None:
    with receiving() as receiver:
        receiver.answer = lambda: (204, {WRITTEN.format("Samples"): "100000"})
        sent(f"prometheus={receiver.url},version=2,interval=1", output_run, make_second(0), make_second(1))
    assert _kinds(receiver) == ["2.0.0", "2.0.0"]
    for path, headers, body in receiver.requests:
        assert path == "/api/v1/write"
        assert headers["Content-Type"] == "application/x-protobuf;proto=io.prometheus.write.v2.Request"
        _, series = request_2(unpacked(body))
        assert len(series) > 100


@pytest.mark.parametrize("status", [415, 204])
def test_a_receiver_of_version_1_gets_that_and_it_is_said_once(
    status: int,
    output_run: OutputRun,
    make_second: Callable[..., OutputSecond],
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers = iter([status])
    with receiving() as receiver, caplog.at_level(logging.WARNING, "plimsoll.run"):
        receiver.answer = lambda: (next(answers, 204), {})
        sent(f"prometheus={receiver.url},version=2,interval=1", output_run, make_second(0), make_second(1))
    # A receiver that only knows version 1.0 takes the other as an empty message, if it does not refuse it.
    assert _kinds(receiver) == ([] if status == 415 else ["2.0.0"]) + ["0.1.0", "0.1.0"]
    (warning,) = [record.getMessage() for record in caplog.records]
    assert "does not take remote write 2.0" in warning
    assert len(request_1(unpacked(receiver.requests[-1][2]))) > 100


def test_what_waits_for_a_receiver_of_version_1_arrives(
    output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    answers = iter([503, 415])
    with receiving() as receiver:
        receiver.answer = lambda: (next(answers, 204), {})
        sent(f"prometheus={receiver.url},version=2,interval=1", output_run, *map(make_second, range(3)))
    assert _kinds(receiver) == ["0.1.0"] * 3
    times = [next(iter(request_1(unpacked(body)).values())).samples[0].timestamp for _, _, body in receiver.requests]
    assert times == [1_800_000_001_000 + 1000 * second for second in range(3)]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (204, "the receiver has written 7 of {} samples"),
        (400, "status 400 Bad Request: status 400; the receiver has written 7 of {} samples"),
    ],
)
def test_what_is_written_in_part_is_counted_and_said(
    status: int, reason: str, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    with receiving() as receiver:
        receiver.answer = lambda: (
            status, {WRITTEN.format("Samples"): "4", WRITTEN.format("Histograms"): "3"}
        )  # fmt: skip
        _, output = opened(f"prometheus={receiver.url},version=2,histograms=native", has_page=False)
        output.open(output_run)
        output.second(make_second(0))
        missing = output.flush(5.0)
        output.close()
    assert missing is not None
    assert missing.messages == 1
    samples = missing.reason.rpartition("of ")[2].partition(" ")[0]
    assert missing == Undelivered(1, reason.format(samples))
    assert int(samples.replace(",", "")) > 7


def test_headers_that_are_no_numbers_say_nothing(
    output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    with receiving() as receiver:
        receiver.answer = lambda: (204, {WRITTEN.format("Samples"): "9" * 100})
        sent(f"prometheus={receiver.url},version=2", output_run, make_second(0))
    assert _kinds(receiver) == ["2.0.0", "0.1.0"]
