"""Lines as servers and proxies write them by default, and with formats of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.long_texts import LENGTH

from plimsoll.errors import UsageError
from plimsoll.sources.access_logs.formats import column_reader, format_reader, json_line, text_line
from plimsoll.sources.access_logs.line import AccessLine, unix_time

if TYPE_CHECKING:
    from plimsoll.sources.access_logs.formats import LineReader

TIME = 1_604_226_896.0
"""2020-11-01 10:34:56 UTC."""
TEXTS = {
    "Apache common": '127.0.0.1 - frank [01/Nov/2020:12:34:56 +0200] "GET /a?b=1 HTTP/1.0" 200 2326',
    "nginx combined": '127.0.0.1 - - [01/Nov/2020:10:34:56 +0000] "GET /a?b=1 HTTP/1.1" 200 2326 "-" "curl/8"',
    "Apache vhost_combined": 'a.test 127.0.0.1 - - [01/Nov/2020:10:34:56 +0000] "GET /a?b=1 HTTP/2.0" 200 9 "-" "x"',
    "Traefik": '127.0.0.1 - - [01/Nov/2020:10:34:56 +0000] "GET /a?b=1 HTTP/1.1" 200 5 "-" "-" 4 "w@file" "-" 3ms',
    "Envoy": '[2020-11-01T10:34:56.000Z] "GET /a?b=1 HTTP/2" 200 - 154 0 226 100 "127.0.0.1" "x" "cc21d9b0" "a" "b"',
    "HAProxy": "Nov  1 10:34:56 lb haproxy[9]: 127.0.0.1:33317 [01/Nov/2020:10:34:56.000] web app/s1 10/0/30/69 200 "
    '2750 - - ---- 1/1/1/1/0 0/0 "GET /a?b=1 HTTP/1.1"',
    "ALB": "http 2020-11-01T10:34:56.000000Z app/lb/50dc6c 127.0.0.1:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "
    '"GET http://www.example.com:80/a?b=1 HTTP/1.1" "curl/7.46.0" - - arn:aws:x "Root=1-5833-aa" "-" "-" 0',
}
OBJECTS = {
    "Caddy": '{"level":"info","ts":1604226896.0,"logger":"http.log.access","request":{"remote_ip":"127.0.0.1",'
    '"method":"GET","host":"a.test","uri":"/a?b=1"},"duration":0.001,"status":200}',
    "Traefik": '{"ClientHost":"127.0.0.1","DownstreamStatus":200,"RequestMethod":"GET","RequestPath":"/a?b=1",'
    '"StartUTC":"2020-11-01T10:34:56Z","level":"info"}',
    "Envoy": '{"method":"GET","path":"/a?b=1","response_code":200,"start_time":"2020-11-01T10:34:56.000Z",'
    '"downstream_remote_address":"127.0.0.1"}',
    "nginx": '{"time":"2020-11-01T10:34:56+00:00","request":"GET /a?b=1 HTTP/1.1","status":200,'
    '"remote_addr":"127.0.0.1"}',
    "ms": '{"@timestamp":1604226896000,"verb":"get","url":"http://a.test/a?b=1","status":"200","client_ip":"127.0.0.1"}',
}  # fmt: skip
IIS = "date time s-ip cs-method cs-uri-stem cs-uri-query s-port c-ip sc-status"
OWN = {
    "nginx": (
        "$remote_addr|$msec|$request_method|$request_uri|$status|$body_bytes_sent",
        "127.0.0.1|1604226896.000|GET|/a?b=1|200|5",
    ),
    "nginx with a request": (
        '$remote_addr - [$time_local] "$request" st=$status rt=${request_time}',
        '127.0.0.1 - [01/Nov/2020:10:34:56 +0000] "GET /a?b=1 HTTP/1.1" st=200 rt=0.1',
    ),
    "Apache": (
        '%h %l %u %t "%r" %>s %b "%{Referer}i" %D',
        '127.0.0.1 - - [01/Nov/2020:10:34:56 +0000] "GET /a?b=1 HTTP/1.1" 200 5 "-" 99',
    ),
    "Apache without a request line": ("%t %a %m %U %q %s", "[01/Nov/2020:10:34:56 +0000] 127.0.0.1 GET /a ?b=1 200"),
}
EXPECTED = AccessLine("GET", "/a?b=1", 200, TIME, "127.0.0.1")


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str) -> None:
    assert text_line(TEXTS[name]) == EXPECTED


@pytest.mark.parametrize("name", OBJECTS)
def test_json(name: str) -> None:
    assert json_line(OBJECTS[name]) == EXPECTED


def test_columns() -> None:
    read = column_reader(IIS)
    assert read("2020-11-01 10:34:56 10.0.0.1 GET /a b=1 443 127.0.0.1 200") == EXPECTED
    assert read("2020-11-01 10:34:56 10.0.0.1 GET /a - 443 127.0.0.1 200").target == "/a"  # type: ignore[union-attr]
    assert read("2020-11-01 10:34:56 GET") is None


@pytest.mark.parametrize("name", OWN)
def test_a_format_of_ones_own(name: str) -> None:
    text, line = OWN[name]
    assert format_reader(text)(line) == EXPECTED


def test_a_format_without_the_request_is_refused() -> None:
    with pytest.raises(UsageError, match=re.escape("needed are $request, or $request_method")):
        format_reader("$remote_addr $status")


@pytest.mark.parametrize(
    "line", ["", "nonsense", '"get / HTTP/1.1" 200', '"GET nowhere HTTP/1.1" 200', '{"method": 1}']
)
def test_what_is_no_request(line: str) -> None:
    assert text_line(line) is None
    assert json_line(line) is None


def test_times() -> None:
    assert unix_time("1604226896000000000") == unix_time(1_604_226_896) == TIME
    assert [unix_time(value) for value in (None, True, "", "yesterday", [1])] == [None] * 5


@pytest.mark.parametrize("unit", ["\\", '"GET ', "[", "1.", ":", "a:", '"GET /\\', " 200"])
@pytest.mark.parametrize("read", [text_line, json_line, column_reader(IIS), format_reader(OWN["Apache"][0])])
def test_a_long_line_takes_time_in_proportion(unit: str, read: LineReader) -> None:
    """What takes the square of its length runs into the timeout of the test."""
    assert read(unit * (LENGTH // len(unit))) is None


@pytest.mark.parametrize("time", [10**400, float("nan"), "9999-12-31T23:59:59-14:00", "01/Jan/0001:00:00:00 +1400"])
def test_a_time_that_no_calendar_has_is_none(time: object) -> None:
    assert unix_time(time) is None


def test_a_target_is_sent_as_one_line_of_ascii() -> None:
    assert text_line(r'::1 - - [x] "GET /a\x22b?c=\"\x5C\xC3\xA9 HTTP/1.1" 200') == AccessLine(
        "GET", "/a%22b?c=%22%5C%C3%A9", 200, None, "::1"
    )
    line = json_line('{"method": "GET", "uri": "/a\\"b\\\\\\n#é\\ud800 ?c=%2F"}')
    assert line is not None
    assert line.target == "/a%22b%5C%0A%23%C3%A9%3F%20?c=%2F"


def test_what_is_no_url_is_no_request() -> None:
    assert text_line('::1 - - [x] "GET http://[/a HTTP/1.1" 400') is None


def test_a_format_as_configurations_have_it() -> None:
    assert format_reader(r"%h %l %u %t \"%r\" %>s %b")(TEXTS["nginx combined"]) == EXPECTED
    assert format_reader('$1 - - [$time_local] "$request" $status')(TEXTS["nginx combined"]) is not None
