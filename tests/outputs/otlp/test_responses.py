"""A receiver takes a message and says that it has refused a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsPartialSuccess,
    ExportMetricsServiceResponse,
)
from tests.outputs.otlp.receivers import grpc_receiving
from tests.outputs.receiver import receiving

from plimsoll.outputs.kinds import opened
from plimsoll.outputs.otlp.responses import check_response
from plimsoll.outputs.output import OutputError, Undelivered

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.outputs.output import OutputRun, OutputSecond

SECONDS = 3


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_what_was_refused_is_said(
    protocol: str, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    partial = ExportMetricsPartialSuccess(rejected_data_points=2, error_message="too old")
    with receiving() as receiver, grpc_receiving() as grpc_receiver:
        receiver.reply = ExportMetricsServiceResponse(partial_success=partial).SerializeToString()
        grpc_receiver.rejects = 2
        url = grpc_receiver.url if protocol == "grpc" else receiver.url
        _, output = opened(f"otlp={url},protocol={protocol},signals=metrics", has_page=False)
        output.open(output_run)
        for second in range(SECONDS):
            output.second(make_second(second))
        missing = output.flush(60.0)
        output.close()
    assert missing == Undelivered(SECONDS, "2 data points of a message refused: too old")


@pytest.mark.parametrize("reply", [b"", b"{}", b"status 200", ExportMetricsServiceResponse().SerializeToString()])
def test_a_reply_that_refuses_nothing_is_fine(reply: bytes) -> None:
    check_response("metrics", reply)


def test_a_warning_is_no_refusal() -> None:
    warning = ExportMetricsPartialSuccess(error_message="slow down")
    check_response("metrics", ExportMetricsServiceResponse(partial_success=warning).SerializeToString())
    refused = ExportMetricsPartialSuccess(rejected_data_points=1)
    with pytest.raises(OutputError, match=r"^1 data point of a message refused$"):
        check_response("metrics", ExportMetricsServiceResponse(partial_success=refused).SerializeToString())
