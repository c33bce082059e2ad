from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.sources.exchange import FormPart
from plimsoll.sources.har import is_har, read_har
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.source_input import SourceInput


def entry(request: dict[str, Any] | None = None, response: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "startedDateTime": "2026-11-29T12:00:00.000Z", "time": 10.0,
        "request": {"method": "GET", "url": "http://h.test/", "headers": [], **(request or {})},
        "response": {"status": 200, "headers": [], "content": {}, **(response or {})}, **more,
    }  # fmt: skip


def read(*entries: Any, name: str = "x.har"):
    return read_har(SourceInput(name, json.dumps({"log": {"version": "1.2", "entries": list(entries)}})))


def only(*arguments: Any, **more: Any):
    (exchange,) = read(entry(*arguments, **more)).exchanges
    return exchange


def test_entries_come_in_the_order_of_their_times():
    recording = read(
        entry({"url": "http://h.test/2"}, startedDateTime="2026-11-29T12:00:02.5Z"),
        entry({"url": "http://h.test/1"}, startedDateTime="2026-11-29T13:00:00+01:00"),
    )
    assert [(exchange.url[-1], exchange.start) for exchange in recording.exchanges] == [("1", 0.0), ("2", 2.5)]
    assert recording.exchanges[0].duration == 0.01


def test_bodies_of_replies():
    for content, body in (
        ({"text": "é"}, "é".encode()),
        ({"text": base64.b64encode(b"\xff\0").decode(), "encoding": "base64"}, b"\xff\0"),
        ({"text": "!", "encoding": "base64"}, b""),
        ({"text": "abc", "encoding": "base64"}, None),
        ({}, None),
        ("x", None),
    ):
        reply = only(None, {"content": content}).reply
        assert reply is not None
        assert reply.body == body


def test_pseudo_headers_and_nonsense_among_headers():
    headers = [{"name": ":authority", "value": "h"}, {"name": "A", "value": "1"}, 7, {"name": "B"}, {"value": "c"}]
    assert only({"headers": headers}).headers == (("A", "1"),)
    assert only({"headers": None}).headers == ()


FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=xx"
PARTS = (
    '--xx\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--xx\r\nContent-Disposition: form-data; name="f"; '
    'filename="f.txt"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--xx--\r\n'
)


@pytest.mark.parametrize(
    ("data", "body", "parts"),
    [
        ({"mimeType": FORM, "text": "a=1&b=2"}, b"a=1&b=2", ()),
        ({"mimeType": FORM, "params": [{"name": "a b", "value": "ü&"}, {"name": "c"}]}, b"a+b=%C3%BC%26&c=", ()),
        ({"mimeType": "application/json", "text": '{"a": 1}', "params": []}, b'{"a": 1}', ()),
        (
            {"mimeType": MULTIPART, "text": PARTS},
            None, (FormPart("a", b"1"), FormPart("f", b"hello", "f.txt", "text/plain")),
        ),
        (
            {"mimeType": MULTIPART, "params": [{"name": "f", "fileName": "g.bin", "contentType": "x/y"}]},
            None, (FormPart("f", b"", "g.bin", "x/y"),),
        ),
        ({"mimeType": "x/y", "text": "/w==", "encoding": "base64"}, b"\xff", ()),
        ({}, None, ()),
        (None, None, ()),
    ],
)  # fmt: skip
def test_bodies_of_requests(data, body, parts):
    exchange = only({"method": "POST", "postData": data})
    assert (exchange.body, exchange.parts) == (body, parts)


def test_what_a_recording_lacks_is_said():
    headers = [{"name": "Content-Length", "value": "5"}]
    file = {"mimeType": MULTIPART, "params": [{"name": "f", "fileName": "g.bin"}]}
    recording = read(entry({"method": "POST", "headers": headers}), entry({"method": "POST", "postData": file}),
                     entry({"method": "POST", "postData": {}, "headers": headers}),
                     entry({"method": "POST", "headers": [{"name": "Content-Type", "value": MULTIPART}]}))  # fmt: skip
    assert recording.notes == (
        "x.har: log.entries[0]: the recording has not the body of this request",
        "x.har: log.entries[1]: the recording has not the content of file 'g.bin'",
        "x.har: log.entries[2]: the recording has not the body of this request",
        "x.har: log.entries[3]: the recording has not the parts of this form",
    )


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (entry(None, {"status": 0}), "aborted or blocked"),
        (entry(None, {"status": None}), "aborted or blocked"),
        (entry() | {"response": None}, "aborted or blocked"),
        (entry({"url": "ws://h.test/"}), "WebSockets"),
        (entry(_resourceType="websocket"), "WebSockets"),
        (entry({"url": "data:text/plain,x"}), "data: URLs"),
        (entry({"url": "blob:http://h"}), "blob: URLs"),
        (entry({"url": "chrome-extension://x/y"}), "URLs that are not of HTTP"),
        (entry({"url": "http:///x"}), "http: URLs"),
        (entry({"method": "CONNECT", "url": "https://h.test:443"}), "tunnels of a proxy"),
        (
            entry({"method": "OPTIONS", "headers": [{"name": "Access-Control-Request-Method", "value": "PUT"}]}),
            "preflights",
        ),
    ],
)
def test_what_is_no_step_is_counted(changed, reason):
    recording = read(entry(), changed)
    assert len(recording.exchanges) == 1
    assert recording.left_out == {reason: 1}


def test_urls_lose_user_and_fragment():
    assert only({"url": "http://ann:pw@h.test:81/a?b#c"}).url == "http://h.test:81/a?b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"log": {"entries": [}', "x.har:1:22: not JSON: Expecting value"),
        ('{"log":\n {"entries": [\n 1, ]}}', "x.har:3:5: not JSON: "),
        ('{"log": {"entries": {}}}', "x.har: log.entries is no list; is this a HAR?"),
        ('{"log": []}', "x.har: log: is no object"),
        ("[]", "x.har: is no object"),
        ('{"log": {"entries": [7]}}', "x.har: log.entries[0]: is no object"),
        ('{"log": {"entries": [{}]}}', "x.har: log.entries[0].request: is no object"),
        ('{"log": {"entries": [{"request": {"url": "http://h/"}}]}}', "x.har: log.entries[0].request: has no url"),
        ("[" * 100_000, "x.har: not JSON that can be read: "),
        ('{"log": ' + "9" * 5000 + "}", "x.har: not JSON that can be read: "),
    ],
)
def test_mistakes_are_named_by_place(text, message):
    with pytest.raises(UsageError) as raised:
        read_har(SourceInput("x.har", text))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("sent", "said"),
    [("a=1; b=2", ""), ("a=1; sid=x", "Cookie sid is not"), ("sid=x; t=y; b=2", "Cookies sid, t are not")],
)
def test_cookies_that_no_reply_had_set_are_named(sent, said, tmp_path):
    entries = [
        entry(None, {"headers": [{"name": "Set-Cookie", "value": "a=1; Path=/\nb=2"}]}),
        entry({"url": "http://h.test/2", "headers": [{"name": "Cookie", "value": sent}]}),
    ]
    (tmp_path / "x.har").write_text(json.dumps({"log": {"entries": entries}}))
    notes = make_draft([str(tmp_path / "x.har")]).notes
    assert len(notes) == bool(said)
    assert said in "".join(notes)


def test_is_har():
    assert is_har(SourceInput("x", '{"log": {"entries": []}}'))
    assert is_har(SourceInput("x.har", "broken"))
    assert not is_har(SourceInput("x.json", '{"info": {}, "item": []}'))


def test_half_a_character_is_replaced(tmp_path):
    text = json.dumps(
        {
            "log": {
                "entries": [
                    entry(
                        {
                            "url": "http://h.test/a?b=X",
                            "method": "POST",
                            "headers": [{"name": "A", "value": "X"}],
                            "postData": {"mimeType": "application/json", "text": '{"a": "Y"}'},
                        }
                    )
                ]
            }
        }
    )
    text = text.replace("X", "\\ud800").replace("Y", "\\\\ud83d").replace("http", "\\u0068ttp")
    (tmp_path / "x.har").write_text(text)
    draft = make_draft([str(tmp_path / "x.har")])
    for as_locustfile in (False, True):
        written(draft, "x", as_locustfile=as_locustfile).text.encode()
