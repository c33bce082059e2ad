"""Lines in InfluxDB's protocol: their grammar, and what a real server makes of them."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.command import wait_until
from tests.outputs.influxdb_server import influx_rows, influxdb_server
from tests.outputs.receiver import receiving
from tests.outputs.sending import sent, shopper
from tests.outputs.victoria_server import victoria_server

from plimsoll.outputs.line_protocol import line
from plimsoll.outputs.output import OutputEvent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.command import Command, CountingTarget

    from plimsoll.outputs.output import OutputRun, OutputSecond


@pytest.mark.parametrize(
    ("tags", "fields", "expected"),
    [
        ({"b": "1", "a": "2"}, {"x": 1, "y": 1.5, "z": True, "w": None}, "m,a=2,b=1 x=1i,y=1.5,z=true 7"),
        ({"a": ""}, {"x": 1}, "m x=1i 7"),
        ({"a": "b c,d=e"}, {"x": False}, r"m,a=b\ c\,d\=e x=false 7"),
        ({"a": 'q"ü\n\t'}, {"x": 'say "a\\b"\n, = '}, r'm,a=q"ü x="say \"a\\b\" , =" 7'),
        ({"a": "end\\"}, {"x": 1e-7}, "m,a=end\\_ x=1e-07 7"),
    ],
)
def test_a_line_to_the_byte(tags: dict[str, str], fields: dict[str, Any], expected: str) -> None:
    assert line("m", tags, fields, 7) == f"{expected}\n".encode()


@pytest.mark.parametrize(
    ("text", "path", "authorization"),
    [
        ("influxdb={url},db=my load", "/write?db=my%20load&precision=ns", None),
        ("influxdb={url}/,bucket=b,org=o,token=t1", "/api/v2/write?org=o&bucket=b&precision=ns", "Token t1"),
        ("influxdb={url},db=d,version=3,token=t1", "/api/v3/write_lp?db=d&precision=nanosecond", "Bearer t1"),
        ("influxdb={url}/insert/x?db=1", "/insert/x?db=1", None),
        ("influxdb={url},db=d,header=Authorization: Mine", "/write?db=d&precision=ns", "Mine"),
    ],
)
def test_each_version_has_its_path_and_its_token(
    text: str, path: str, authorization: str | None, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    with receiving() as receiver:
        sent(text.format(url=receiver.url), output_run, make_second(2))
    ((found, headers, body),) = receiver.requests
    assert (found, headers.get("Authorization")) == (path, authorization)
    root, _, run = body.decode().splitlines()
    assert root.startswith(f"plimsoll,method=GET,name=/,run={output_run.id} requests=4i,failures=1i,")
    assert root.endswith(" 1800000003000000000")
    assert run.startswith(f"plimsoll_run,run={output_run.id} requests=5i,")


def test_the_token_may_be_in_a_variable(
    monkeypatch: pytest.MonkeyPatch, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    monkeypatch.setenv("INFLUX_TOKEN", "t2")
    with receiving() as receiver:
        sent(f"influxdb={receiver.url},bucket=b", output_run, make_second())
    assert receiver.requests[0][1]["Authorization"] == "Token t2"


def test_lines_go_by_udp_and_into_a_file(
    tmp_path: Path, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    path = tmp_path / "run.lp"
    notes = [OutputEvent("note", 1.0, text) for text in ("Hi.", "Hello.")]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(10.0)
        for text in (f"influxdb=udp://127.0.0.1:{receiver.getsockname()[1]}", f"influxdb={path}"):
            sent(text, output_run, make_second(), events=notes)
        received = b"".join(receiver.recv(4000) for _ in range(3))
    assert received == path.read_bytes()
    assert received.endswith(f'plimsoll_event,kind=note,run={output_run.id} text="Hello." 1000000001\n'.encode())


def test_a_real_server_has_the_record_of_a_run(plimsoll: Command, target: CountingTarget, tmp_path: Path) -> None:
    plimsoll.write(shopper('/fail "ü", a=b \\ c'))
    with influxdb_server(tmp_path) as url:
        done = plimsoll(
            "run", "-H", target.url, "--headless", "-u", "3", "-r", "3", "-t", "3", "--exit-code-on-error", "0",
            "--out", f"influxdb={url},db=load",
        )  # fmt: skip
        assert done.code == 0, done
        record = plimsoll.stored()
        assert record["run"]["notes"] == []
        sums = influx_rows(url, "SELECT sum(requests) AS requests, sum(failures) AS failures FROM plimsoll GROUP BY *")
        found = {(row["method"], row["name"]): (row["requests"], row["failures"]) for row in sums}
        assert found == {
            (row["method"], row["name"]): (row["completed"], row["failures"]) for row in record["endpoints"]
        }
        (run,) = influx_rows(url, "SELECT sum(requests), max(user_count) FROM plimsoll_run")
        assert (run["sum"], run["max"]) == (record["total"]["completed"], 3)
        (longest,) = influx_rows(url, "SELECT max(max_ms) FROM plimsoll_run")
        assert longest["max"] == pytest.approx(record["total"]["response_ms"]["max"])
        events = influx_rows(url, "SELECT kind, text, verdict FROM plimsoll_event")
        first, *found, last = (event["kind"] for event in events)
        assert (first, last) == ("start", "end")
        assert set(found) <= {"finding"}
        assert events[-1]["verdict"] == "passed"


def test_a_real_server_takes_lines_by_udp(
    tmp_path: Path, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    with influxdb_server(tmp_path) as url:
        sent(f"influxdb=udp://{url.removeprefix('http://')}", output_run, *map(make_second, range(3)))
        wait_until(lambda: bool(influx_rows(url, "SELECT * FROM plimsoll_run")))
        rows = "SELECT sum(requests) FROM plimsoll GROUP BY method"
        wait_until(lambda: {row["method"]: row["sum"] for row in influx_rows(url, rows)} == {"GET": 12, "POST": 3})


def test_the_api_of_version_2_is_taken_by_a_real_server(
    tmp_path: Path, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    with victoria_server(tmp_path) as server:
        text = f"influxdb={server.url},bucket=load,org=shop,token=abc"
        # It drops what is more than two days ahead.
        sent(text, output_run, *(make_second(second, time=time.time() + second) for second in range(3)))
        run = ("run", output_run.id)
        requests = {
            (("method", "GET"), ("name", "/"), run): 12, (("method", "POST"), ("name", '/buy "now", a=b'), run): 3,
        }  # fmt: skip
        wait_until(lambda: server.sums("plimsoll_requests") == requests)
        assert server.sums("plimsoll_run_user_count") == {(run,): 9}
