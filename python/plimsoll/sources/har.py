"""HAR 1.2, as browsers, proxies and Playwright write it.

https://w3c.github.io/web-performance/specs/HAR/Overview.html; fields with an underscore are those of one tool.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlsplit

from plimsoll.errors import UsageError
from plimsoll.sources.exchange import (
    FormPart,
    Headers,
    RecordedExchange,
    RecordedReply,
    Recording,
    media_type,
    parts_of,
)
from plimsoll.sources.har_sockets import RecordedSocket
from plimsoll.sources.json_values import JsonObject, objects_of

if TYPE_CHECKING:
    from plimsoll.sources.source_input import SourceInput

_HTTP = {"ws": "http", "wss": "https"}
"""The schemes of handshakes."""
LONGEST_BODY = 64 << 20
"""Bytes of one body after base64; a longer one is taken for a missing one."""


def is_har(source: SourceInput) -> bool:
    """Whether a text is a HAR: an object with a log that has entries."""
    start = source.beginning
    if not start.lstrip().startswith("{") or '"log"' not in start:
        return source.name.lower().endswith(".har")
    return '"entries"' in source.text


def read_har(source: SourceInput) -> Recording:
    """Its requests in the order in which they began. Raises UsageError, which names the entry."""
    document = source.json
    log = _object(document, source.name).get("log")
    entries = _object(log, f"{source.name}: log").get("entries")
    if not isinstance(entries, list):
        raise UsageError(f"{source.name}: log.entries is no list; is this a HAR?")
    if not entries:
        hint = "open the network tab before the flow begins, and save it as HAR with content at the end"
        raise UsageError(f"{source.name}: log.entries is empty, so no request was recorded: {hint}")
    left_out: Counter[str] = Counter()
    notes: list[str] = []
    timed: list[tuple[float, RecordedExchange]] = []
    is_open = False
    """A user has one WebSocket."""
    for number, entry in enumerate(entries):
        reader = _Entry(source.name, number, _object(entry, f"{source.name}: log.entries[{number}]"))
        if (socket := reader.socket()) is not None:
            if is_open:
                left_out["WebSockets beside another one"] += 1
                continue
            is_open = True
            timed += socket.exchanges()
            notes += socket.notes
            continue
        if reason := reader.reason():
            left_out[reason] += 1
            continue
        timed.append(reader.exchange())
        notes += reader.notes
    timed.sort(key=lambda pair: pair[0])
    begin = timed[0][0] if timed else 0.0
    exchanges = tuple(replace(exchange, start=start - begin, sent_at=start) for start, exchange in timed)
    if sockets := left_out.get("WebSockets"):
        notes.append(
            f"{source.name}: {sockets} WebSockets have no messages in the recording, and are left out: export it from "
            "Chromium, whose recordings have them"
        )
    if _lacks_contents(entries):
        notes.append(
            f"{source.name}: no reply has its content, so values in bodies are not taken from replies: save the "
            "recording again as HAR with content"
        )
    return Recording(source.name, exchanges, tuple(notes), of_browser=True, left_out=dict(left_out))


def _lacks_contents(entries: list[Any]) -> bool:
    """Whether replies had bodies, and the recording has none of them. Entries are checked already."""
    replies = objects_of([entry.get("response") for entry in entries])
    contents = objects_of([reply.get("content") for reply in replies])
    sizes = [content.get("size") for content in contents]
    has_bodies = any(isinstance(size, int) and size > 0 for size in sizes)
    return has_bodies and not any(content.get("text") for content in contents)


class _Entry:
    """One entry of log.entries."""

    def __init__(self, name: str, number: int, entry: JsonObject) -> None:
        self._where = f"{name}: log.entries[{number}]"
        self._entry = entry
        self._request = _object(entry.get("request"), f"{self._where}.request")
        self._response = entry.get("response")
        self.notes: list[str] = []
        url = self._request.get("url")
        if not isinstance(url, str) or not isinstance(self._request.get("method"), str):
            raise UsageError(f"{self._where}.request: has no url or no method")
        self.url: str = url

    def reason(self) -> str:
        """Why it cannot be a step; "" if it can."""
        scheme = self.url.partition(":")[0].lower()
        if scheme in ("ws", "wss") or self._entry.get("_resourceType") == "websocket":
            return "WebSockets"
        if scheme not in ("http", "https") or not _has_host(self.url):
            return f"{scheme}: URLs" if scheme.isalnum() and len(scheme) < 20 else "URLs that are not of HTTP"
        if self._request["method"].upper() == "CONNECT":
            return "tunnels of a proxy"
        status = self._response.get("status") if isinstance(self._response, dict) else None
        headers = _headers(self._request.get("headers"))
        if self._request["method"].upper() == "OPTIONS" and any(
            name.lower() == "access-control-request-method" for name, _ in headers
        ):
            return "preflights"
        return "" if isinstance(status, int) and 100 <= status < 600 else "aborted or blocked"

    def socket(self) -> RecordedSocket | None:
        """None if it is no WebSocket whose messages are kept."""
        scheme, colon, rest = self.url.partition(":")
        is_socket = scheme.lower() in ("ws", "wss") or self._entry.get("_resourceType") == "websocket"
        if not is_socket or not self._entry.get("_webSocketMessages") or not _has_host(self.url):
            return None
        url = f"{_HTTP.get(scheme.lower(), scheme)}{colon}{rest}"
        start = _unix_time(self._entry.get("startedDateTime"))
        return RecordedSocket(self._entry, _plain_url(url), _headers(self._request.get("headers")), start, self._where)

    def exchange(self) -> tuple[float, RecordedExchange]:
        """When it began (Unix time), and what it is."""
        assert isinstance(self._response, dict)
        request, headers = self._request, _headers(self._request.get("headers"))
        body, parts = self._body(headers)
        duration = self._entry.get("time")
        kind = self._entry.get("_resourceType") or ""
        return _unix_time(self._entry.get("startedDateTime")), RecordedExchange(
            method=request["method"].upper(), url=_plain_url(self.url), headers=headers, body=body, parts=parts,
            reply=RecordedReply(
                self._response["status"], _headers(self._response.get("headers")),
                _content(self._response.get("content")),
            ),
            duration=max(0.0, duration / 1e3) if isinstance(duration, int | float) else None,
            page=str(self._entry.get("pageref") or ""), kind=str(kind), where=self._where,
        )  # fmt: skip

    def _body(self, headers: Headers) -> tuple[bytes | None, tuple[FormPart, ...]]:
        data = self._request.get("postData")
        data = data if isinstance(data, dict) else {}
        content_type = str(data.get("mimeType") or "")
        sent_type = next((value for name, value in headers if name.lower() == "content-type"), content_type)
        text, params = data.get("text"), data.get("params")
        body = _decoded(text, data.get("encoding")) if isinstance(text, str) and text else None
        if media_type(sent_type) == "multipart/form-data":
            parts = parts_of(body, sent_type) if body else ()
            if not parts and isinstance(params, list):
                parts = tuple(_part(param) for param in params if isinstance(param, dict))
            if not parts:
                self.notes.append(f"{self._where}: the recording has not the parts of this form")
            for part in parts:
                if part.filename and not part.content:
                    self.notes.append(f"{self._where}: the recording has not the content of file {part.filename!r}")
            return None, parts
        if body is None and isinstance(params, list) and params:
            pairs = [param for param in params if isinstance(param, dict)]
            joined = "&".join(
                f"{quote_plus(str(param.get('name') or ''))}={quote_plus(str(param.get('value') or ''))}"
                for param in pairs
            )
            return joined.encode(), ()
        if body is None and any(name.lower() == "content-length" and value != "0" for name, value in headers):
            self.notes.append(f"{self._where}: the recording has not the body of this request")
        return body, ()


def _part(param: JsonObject) -> FormPart:
    filename, content_type = param.get("fileName"), param.get("contentType")
    value = str(param.get("value") or "").encode()
    return FormPart(
        str(param.get("name") or ""), value, str(filename) if filename else None,
        str(content_type) if content_type else None,
    )  # fmt: skip


def _content(content: Any) -> bytes | None:
    if not isinstance(content, dict) or not isinstance(content.get("text"), str):
        return None
    return _decoded(content["text"], content.get("encoding"))


def _decoded(text: str, encoding: Any) -> bytes | None:
    if len(text) > LONGEST_BODY * 4 // 3:
        return None
    if encoding != "base64":
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        return None


def _headers(headers: Any) -> Headers:
    """Without the pseudo headers of HTTP/2."""
    if not isinstance(headers, list):
        return ()
    named = ((header.get("name"), header.get("value")) for header in headers if isinstance(header, dict))
    return tuple(
        (name, value)
        for name, value in named
        if isinstance(name, str) and isinstance(value, str) and name and not name.startswith(":")
    )


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False


def _plain_url(url: str) -> str:
    """Without user, password and fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl()


def _unix_time(text: Any) -> float:
    """0 if the recording does not say."""
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _object(value: Any, where: str) -> JsonObject:
    if not isinstance(value, dict):
        raise UsageError(f"{where}: is no object; is this a HAR?")
    return value
