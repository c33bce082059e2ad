"""The way of remote write to a receiver: version 2.0 as long as it takes that, else version 1.0."""

from __future__ import annotations

import logging
import struct
from typing import TYPE_CHECKING

from plimsoll.outputs.output import OutputError
from plimsoll.outputs.transports import HttpTransport, RetryError
from plimsoll.say.notices import partly_written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.outputs.transports import HttpResponse, Sign

logger = logging.getLogger("plimsoll.run")

CONTENT_TYPE_1 = "application/x-protobuf"
HEADERS_1 = {"Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0"}
CONTENT_TYPE_2 = "application/x-protobuf;proto=io.prometheus.write.v2.Request"
HEADERS_2 = {"Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "2.0.0"}
WRITTEN = ("X-Prometheus-Remote-Write-Samples-Written", "X-Prometheus-Remote-Write-Histograms-Written")
"""Headers of a response: what the receiver has stored. A series of a message has a sample of one of both kinds."""
UNSUPPORTED_MEDIA_TYPE = 415
_HEAD = struct.Struct("<II")
"""Of a message for both versions: its samples, and the bytes of version 2.0."""


class UnknownVersionError(OutputError):
    """The receiver does not take version 2.0."""


def for_both(samples: int, newer: bytes, older: bytes) -> bytes:
    """A message for `NegotiatedTransport`. samples: of either. older: b"" once version 2.0 is agreed on."""
    return _HEAD.pack(samples, len(newer)) + newer + older


class NegotiatedTransport:
    """Sends version 2.0 until the receiver says that it does not take that."""

    def __init__(self, name: str, url: str, headers: Mapping[str, str], sign: Sign | None) -> None:
        """name: of the output, for log lines. Raises UsageError."""
        self._name = name
        self._newer = Version2Transport(url, CONTENT_TYPE_2, {**HEADERS_2, **headers}, sign=sign)
        self._older = HttpTransport(url, CONTENT_TYPE_1, {**HEADERS_1, **headers}, sign=sign)
        self.agreed: int | None = None
        """The version that the receiver takes; None until it has answered."""

    def reach(self) -> None:
        self._newer.reach()

    def send(self, message: bytes) -> None:
        samples, size = _HEAD.unpack_from(message)
        newer, older = message[_HEAD.size : _HEAD.size + size], message[_HEAD.size + size :]
        if newer and self.agreed != 1:
            try:
                self._newer.send_samples(newer, samples)
                self.agreed = 2
            except UnknownVersionError as error:
                self.agreed = 1
                self._newer.close()
                logger.warning("%s does not take remote write 2.0 (%s); it gets version 1.0", self._name, error)
                if not older:
                    raise
            else:
                return
        self._older.send(older)

    def close(self) -> None:
        self._newer.close()
        self._older.close()


class Version2Transport(HttpTransport):
    """Sends version 2.0, and compares what was sent with what the receiver has written."""

    _samples = 0
    """Of the message that is being sent."""

    def send_samples(self, message: bytes, samples: int) -> None:
        """samples: of the message, native histograms too."""
        self._samples = samples
        self.send(message)

    def _check(self, response: HttpResponse) -> None:
        written = _written(response)
        is_taken = 200 <= response.status < 300
        if response.status == UNSUPPORTED_MEDIA_TYPE:
            raise UnknownVersionError(f"status {UNSUPPORTED_MEDIA_TYPE}")
        if is_taken and written is None:
            # Version 1.0 ignores fields that it does not know, and answers as if it had stored something.
            raise UnknownVersionError("its response does not say what it has written")
        try:
            super()._check(response)
        except RetryError:
            raise
        except OutputError as error:
            raise OutputError(
                f"{error}; {partly_written(written, self._samples)}" if written else str(error)
            ) from error
        if written is not None and written < self._samples:
            raise OutputError(partly_written(written, self._samples))


def _written(response: HttpResponse) -> int | None:
    """How many samples the receiver has written; None if it does not say."""
    texts = [response.headers.get(name, "") for name in WRITTEN]
    numbers = [int(text) for text in texts if text.isdecimal() and len(text) < 20]
    return sum(numbers) if numbers else None
