"""Datagrams as a server of StatsD reads them."""

from __future__ import annotations

import re
import socket
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.command import wait_until
from tests.outputs.sending import sent
from tests.outputs.statsd_server import statsd_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.command import Command, CountingTarget

    from plimsoll.outputs.output import OutputRun, OutputSecond

_LINE = re.compile(r"([\w.-]+):(-?[\d.e+-]+)\|([cg])(?:\|#([^|\s]+))?")


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        receiver.settimeout(10.0)
        yield receiver


def _received(server: socket.socket) -> list[tuple[str, float, str, str]]:
    server.setblocking(False)
    lines = []
    while True:
        try:
            lines += server.recv(65536).decode().splitlines()
        except BlockingIOError:
            break
    found = [_LINE.fullmatch(line) for line in lines]
    assert all(found), lines
    return [(match[1], float(match[2]), match[3], match[4] or "") for match in found if match]


def test_endpoints_are_parts_of_names_or_tags(
    server: socket.socket, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    port = server.getsockname()[1]
    for settings in (",prefix=load", ",tags=dogstatsd"):
        sent(f"statsd=127.0.0.1:{port}{settings}", output_run, make_second())
    found = _received(server)
    assert ("load.endpoint.GET.root.requests", 4, "c", "") in found
    assert ("load.endpoint.POST.buy_now_a_b.requests", 1, "c", "") in found
    assert ("load.requests", 5, "c", "") in found
    assert ("plimsoll.endpoint.requests", 4, "c", "method:GET,name:/") in found
    assert ("plimsoll.endpoint.failures", 0, "c", 'method:POST,name:/buy_"now"_a=b') in found
    assert ("plimsoll.users", 3, "g", "") in found
    assert ("plimsoll.thresholds_broken", 0, "g", "") in found


def test_the_counters_of_a_run_add_up_to_its_record(
    plimsoll: Command, target: CountingTarget, server: socket.socket
) -> None:
    port = server.getsockname()[1]
    done = plimsoll("run", f"{target.url}/a", "-u", "2", "-t", "2", "--out", f"statsd=127.0.0.1:{port}")
    assert done.code == 0, done
    sums: Counter[str] = Counter()
    for name, value, kind, _ in _received(server):
        sums[name] += int(value) if kind == "c" else 0
    record = plimsoll.stored()
    assert sums["plimsoll.requests"] == record["total"]["completed"]
    assert sums["plimsoll.endpoint.GET.a.requests"] == record["total"]["completed"]


def test_a_real_server_has_the_record_of_a_run(plimsoll: Command, target: CountingTarget, tmp_path: Path) -> None:
    with statsd_server(tmp_path) as server:
        out = f"statsd=127.0.0.1:{server.port}"
        done = plimsoll(
            "run", f"{target.url}/a", "-u", "2", "-t", "2", "--out", out, "--out", f"{out},prefix=dog,tags=dogstatsd"
        )
        assert done.code == 0, done
        completed = plimsoll.stored()["total"]["completed"]
        names = (
            "plimsoll.requests", "plimsoll.endpoint.GET.a.requests", "dog.requests",
            "dog.endpoint.requests;method=GET;name=-a",
        )  # fmt: skip
        wait_until(lambda: all(server.counters().get(name) == completed for name in names))
        assert server.counters()["statsd.bad_lines_seen"] == 0
        assert server.counters()["plimsoll.failures"] == 0
        assert server.gauges()["plimsoll.workers"] == server.gauges()["dog.workers"] == 1
