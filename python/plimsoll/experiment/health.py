"""What a target answers to a question of our own: whether it is ready, what it is, how much is in it."""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from plimsoll._engine import GrpcSchema, Origin
from plimsoll.experiment.cell_values import CellError
from plimsoll.load.origins import authorization_of, http_url, is_grpc_url
from plimsoll.run.grpc_call import call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll._engine import GrpcMethod
    from plimsoll.experiment.spec import Healthy
    from plimsoll.run.supervised.process import Process

REPLY_SECONDS = 10.0
LONGEST_REPLY = 64 << 10
"""Bytes of it that are read."""
PAUSES = (0.02, 0.05, 0.1, 0.25)
"""Seconds between attempts; the last one again and again."""

_CHECK = "grpc.health.v1.Health/Check"
_CHECKS = """
syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse {
  enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; }
  ServingStatus status = 1;
}
service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }
"""


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    text: str


def get(url: str, within: float = REPLY_SECONDS) -> Reply:
    """GET it, without a proxy and without a check of the certificate: the request goes to the system under test. It
    has no secrets except those in the URL. Raises OSError, also if the answer is not HTTP."""
    place, headers = _without_credentials(url)
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    request = urllib.request.Request(place, headers={"User-Agent": "plimsoll", **headers})
    try:
        with opener.open(request, timeout=within) as reply:
            return Reply(reply.status, reply.read(LONGEST_REPLY).decode("utf-8", "replace"))
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, error.read(LONGEST_REPLY).decode("utf-8", "replace"))
    except http.client.HTTPException as error:
        raise OSError(f"the answer is not HTTP ({error!r})") from error
    except urllib.error.URLError as error:
        raise error.reason if isinstance(error.reason, OSError) else OSError(str(error.reason)) from error


def value_of(text: str) -> int | float | str:
    """A JSON number, or JSON text, or else the text as it is, without white space around it."""
    try:
        value = json.loads(text)
    except ValueError:
        return text.strip()
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number or isinstance(value, str) else text.strip()


def wait_until_healthy(
    healthy: Healthy,
    url: str,
    process: Process | None,
    ask: Callable[[float], str] | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Until the target is ready. process: its own, if it was started by us. ask: runs `healthy.command`, given the
    seconds that there are, and says what is wrong, "" for nothing. Raises CellError when the time is over, or at once
    when the process has ended; with its last log lines."""
    deadline = clock() + healthy.within
    attempt = 0
    while True:
        left = max(0.1, deadline - clock())
        wrong = ask(left) if ask is not None else _ask_url(url, healthy, min(left, REPLY_SECONDS))
        # Somebody else may answer there while our own target could not start.
        if process is not None and (ending := process.poll()) is not None:
            raise CellError(
                f"the target ended before it was healthy: {ending}",
                command=process.command, ending=str(ending), log=process.tail(),
            )  # fmt: skip
        if not wrong:
            return
        if clock() >= deadline:
            what = f"the target is not healthy after {healthy.within:g} s: {wrong}"
            raise CellError(what, command=process.command if process else (), log=process.tail() if process else ())
        sleep(min(PAUSES[min(attempt, len(PAUSES) - 1)], max(0.0, deadline - clock())))
        attempt += 1


def _ask_url(url: str, healthy: Healthy, within: float) -> str:
    """What is wrong, or ""."""
    path = healthy.path
    if healthy.grpc is not None or (path is None and is_grpc_url(url)):
        return ask_grpc(url, healthy.grpc, within)
    place = below(url, path) if path is not None else url
    try:
        status = get(place, within).status
    except OSError as error:
        return f"GET {place}: {error.strerror or error}"
    return f"GET {place} answers {status}" if path is not None and status >= 400 else ""


def ask_grpc(url: str, service: str | None, within: float) -> str:
    """What is wrong with the service, or with the whole server if it is ""; "" for nothing. None: the server need not
    know of health checks, any answer of gRPC will do. Certificates are not checked: the request goes to the system
    under test."""
    method = GrpcSchema.from_text(_CHECKS).method(_CHECK)
    message = method.encode(json.dumps({"service": service or ""}))
    answer = call(Origin(http_url(url), verify=False, http2=True), _CHECK, [message], within)
    wrong = answer.fault if service is None else answer.wrong or _state(method, answer.messages)
    return f"{_CHECK}: {wrong}" if wrong else ""


def _state(method: GrpcMethod, messages: Sequence[bytes]) -> str:
    """The state of a service if it is not serving, else ""."""
    try:
        status = method.decode(messages[0])["status"] if messages else "UNKNOWN"
    except ValueError as error:
        return str(error)
    return "" if status == "SERVING" else str(status)


def below(url: str, path: str) -> str:
    """A path of the target."""
    return url.rstrip("/") + "/" + path.lstrip("/")


def _without_credentials(url: str) -> tuple[str, dict[str, str]]:
    """The URL without user and password, and the header that has them."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])), authorization_of(parts)
