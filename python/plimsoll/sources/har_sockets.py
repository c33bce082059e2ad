"""The WebSockets of a HAR, whose messages Chromium keeps in `_webSocketMessages`, as steps.

A step waits for the first message that answers one that was sent. Further messages, which the server sends by itself,
are not waited for: their number and their times are others each time.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING

from plimsoll.sources.exchange import Headers, RecordedExchange, RecordedReply
from plimsoll.sources.json_values import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT, BINARY = 1, 2
"""Opcodes of messages."""
BINARY_KIND = "binary message"
"""Of an exchange that sends bytes."""
MOST_MESSAGES = 2_000
"""Of one WebSocket; later ones are left out."""
LONGEST_MESSAGE = 1 << 20
"""Characters."""
_KINDS = ("type", "event", "op", "action", "kind", "method", "topic", "channel")
"""Keys of a JSON message that say which one it is."""


class RecordedSocket:
    """One entry of a HAR that opened a WebSocket."""

    def __init__(self, entry: JsonObject, url: str, headers: Headers, start: float, where: str) -> None:
        """url: of its handshake, http or https. start: Unix time."""
        self.notes: list[str] = []
        self._url, self._where, self._start = url, where, start
        given = entry.get("_webSocketMessages")
        messages = [message for message in given if isinstance(message, dict)] if isinstance(given, list) else []
        if len(messages) > MOST_MESSAGES:
            self.notes.append(f"{where}: only the first {MOST_MESSAGES:,} messages of this WebSocket are used")
        self._messages = messages[:MOST_MESSAGES]
        offered = next((value for name, value in headers if name.lower() == "sec-websocket-protocol"), "")
        self._protocols = tuple(name.strip() for name in offered.split(",") if name.strip())
        self._headers = tuple(pair for pair in headers if not pair[0].lower().startswith("sec-websocket-"))

    def exchanges(self) -> Iterator[tuple[float, RecordedExchange]]:
        """When each step began (Unix time), and what it is: it opens the WebSocket, sends, receives, and closes it."""
        connect = RecordedExchange(
            "WS", self._url, self._headers, socket="connect", protocols=self._protocols, kind="websocket",
            where=self._where,
        )  # fmt: skip
        yield self._start, connect
        sent_at, awaits, has_sent, unasked = self._start, True, False, 0
        for message in self._messages:
            content, at = _content(message), _time(message, sent_at)
            if content is None:
                continue
            if message.get("type") == "send":
                sent_at, awaits, has_sent = at, True, True
                kind = BINARY_KIND if message.get("opcode") == BINARY else "websocket"
                yield at, RecordedExchange(
                    "WS", self._url, body=content, socket="send", duration=0.0, kind=kind, where=self._where
                )  # fmt: skip
            elif awaits:
                awaits = False
                # Its time is that of the message which it answers: the wait for it is no pause of the user.
                yield sent_at, RecordedExchange(
                    "WS", self._url, reply=RecordedReply(101, (), content), duration=max(0.0, at - sent_at),
                    kind="websocket", socket="receive", receives="reply" if has_sent else "next", where=self._where,
                )  # fmt: skip
            else:
                unasked += 1
        if unasked:
            self.notes.append(
                f"{self._where}: {unasked} more messages of the server are not waited for; a step waits for the first "
                "one after each that is sent"
            )
        end = max((_time(message, self._start) for message in self._messages), default=self._start)
        yield end, RecordedExchange("WS", self._url, socket="close", kind="websocket", where=self._where)


def telling_keys(message: bytes) -> JsonObject:
    """The keys of a JSON message that say which one it is, as JSON pointers with their values."""
    try:
        document = json.loads(message)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(document, dict):
        return {}
    return {
        f"/{key}": document[key]
        for key in _KINDS if isinstance(document.get(key), str) and 0 < len(document[key]) < 100
    }  # fmt: skip


def _content(message: JsonObject) -> bytes | None:
    """None for what is no message of text or bytes."""
    data = message.get("data")
    if not isinstance(data, str) or len(data) > LONGEST_MESSAGE or message.get("type") not in ("send", "receive"):
        return None
    if message.get("opcode") != BINARY:
        return data.encode("utf-8", "replace") if message.get("opcode", TEXT) == TEXT else None
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


def _time(message: JsonObject, otherwise: float) -> float:
    time = message.get("time")
    return float(time) if isinstance(time, int | float) and not isinstance(time, bool) and time > 0 else otherwise
