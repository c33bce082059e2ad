"""OpenTelemetry's protocol over gRPC with TLS, to a real server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.outputs.otlp.receivers import grpc_receiving, log_records, points
from tests.outputs.sending import sent

from plimsoll.errors import UsageError
from plimsoll.outputs.kinds import opened
from plimsoll.outputs.output import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.command import Command, CountingTarget

    from plimsoll.outputs.output import OutputRun, OutputSecond

Certificate = tuple[str, str]
CA, CERTIFICATE, KEY = (f"OTEL_EXPORTER_OTLP_{name}" for name in ("CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"))


@pytest.mark.parametrize("asks", [False, True], ids=["no client certificate", "client certificate"])
def test_a_run_arrives_by_tls(
    asks: bool,
    plimsoll: Command,
    target: CountingTarget,
    certificate: Certificate,
    other_certificate: Certificate,
) -> None:
    plimsoll.environment[CA] = certificate[0]
    if asks:
        plimsoll.environment[CERTIFICATE] = other_certificate[0]
        plimsoll.environment[KEY] = other_certificate[1]
    with grpc_receiving(certificate=certificate, senders=other_certificate[0] if asks else None) as receiver:
        done = plimsoll(
            "run", f"{target.url}/a", "-u", "2", "-t", "2", "--out", f"otlp={receiver.url},protocol=grpc", "--strict",
        )  # fmt: skip
    assert "cannot be reached" not in done.err
    record = plimsoll.stored()
    assert record["run"]["notes"] == []
    assert points(receiver.messages, "plimsoll.requests")[-1].as_int == record["total"]["completed"] > 0
    assert log_records(receiver.messages)[-1].event_name == "plimsoll.end"


def test_a_server_whose_certificate_is_unknown_gets_nothing_and_the_run_goes_on(
    plimsoll: Command,
    target: CountingTarget,
    certificate: Certificate,
    other_certificate: Certificate,
) -> None:
    plimsoll.environment[CA] = other_certificate[0]
    with grpc_receiving(certificate=certificate) as receiver:
        run = ("run", f"{target.url}/a", "-u", "1", "-t", "2", "--out", f"otlp={receiver.url},protocol=grpc")
        done = plimsoll(*run)
        assert done.code == 0, done
        warning = "cannot be reached: the certificate of the receiver is not accepted: self-signed certificate; the run"
        assert warning in done.err
        (note,) = plimsoll.stored()["run"]["notes"]
        assert "not delivered: " in note
        before = target.total
        strict = plimsoll(*run, "--strict")
        assert strict.code == 2
        assert "is not accepted: self-signed certificate; without --strict the run goes on" in strict.err
        assert target.total == before
    assert receiver.messages == []


def test_a_server_that_asks_for_a_certificate_gets_nothing_without_one(
    certificate: Certificate,
    other_certificate: Certificate,
    monkeypatch: pytest.MonkeyPatch,
    output_run: OutputRun,
    make_second: Callable[..., OutputSecond],
) -> None:
    monkeypatch.setenv(CA, certificate[0])
    with grpc_receiving(certificate=certificate, senders=other_certificate[0]) as receiver:
        _, output = opened(f"otlp={receiver.url},protocol=grpc,signals=metrics", has_page=False)
        output.open(output_run)
        output.second(make_second())
        missing = output.flush(1.0)
        output.close()
    assert receiver.messages == []
    assert missing is not None
    assert (missing.messages, missing.reason.startswith("gRPC status UNAVAILABLE: ")) == (1, True)


def test_a_server_without_tls_is_not_reached_by_tls(output_run: OutputRun) -> None:
    with grpc_receiving() as receiver:
        _, output = opened(f"otlp={receiver.url.replace('http', 'https')},protocol=grpc", has_page=False)
        with pytest.raises(OutputError):
            output.open(output_run)
        output.close()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (CA, r"cannot read the certificates in {}: "),
        (CERTIFICATE, r"cannot use the certificate in {}: "),
    ],
)
def test_a_file_that_is_no_certificate_is_named(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "no.pem"
    for content in (None, "no certificate"):
        if content is not None:
            path.write_text(content)
        monkeypatch.setenv(name, str(path))
        with pytest.raises(UsageError, match=message.format(path)):
            opened("otlp=https://h:4317,protocol=grpc", has_page=False)


def test_a_user_in_a_url_is_basic_authentication(
    output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    with grpc_receiving() as receiver:
        url = receiver.url.replace("://", "://ann:pw@")
        sent(f"otlp={url},protocol=grpc,signals=metrics", output_run, make_second())
    assert receiver.metadata[0]["authorization"] == "Basic YW5uOnB3"
