"""Replies as servers send them and no standard allows them, some of which clients read all the same."""

from __future__ import annotations

import gzip
import zlib

_OK = b"HTTP/1.1 200 OK\r\n"
_LENGTH = b"Content-Length: 5\r\n"
_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
_GZIP = gzip.compress(b"hello gzip " * 20)
_ZLIB = zlib.compress(b"hello zlib " * 20)


def _line(line: bytes) -> bytes:
    """A reply with this header line."""
    return _OK + line + b"\r\n" + _LENGTH + b"\r\nhello"


def _length(line: bytes) -> bytes:
    return _OK + line + b"\r\n\r\nhello"


def _coded(coding: bytes, body: bytes, more: bytes = b"") -> bytes:
    return _OK + b"Content-Encoding: %b\r\n%bContent-Length: %d\r\n\r\n%b" % (coding, more, len(body), body)


def _status(line: bytes) -> bytes:
    return line + b"\r\n" + _LENGTH + b"\r\nhello"


REPLIES: dict[str, bytes] = {
    "a plain one": _OK + _LENGTH + b"\r\nhello",
    # Status lines
    "no reason": _status(b"HTTP/1.1 200"),
    "an empty reason": _status(b"HTTP/1.1 200 "),
    "two blanks": _status(b"HTTP/1.1  200 OK"),
    "a tab": _status(b"HTTP/1.1\t200 OK"),
    "a reason in Latin-1": _status(b"HTTP/1.1 200 \xfcber"),
    "a reason with a control character": _status(b"HTTP/1.1 200 a\x01b"),
    "HTTP/1.0": _status(b"HTTP/1.0 200 OK"),
    "HTTP/1.2": _status(b"HTTP/1.2 200 OK"),
    "HTTP/2": _status(b"HTTP/2 200 OK"),
    "small letters": _status(b"http/1.1 200 OK"),
    "a radio": _status(b"ICY 200 OK"),
    "no head": b"hello",
    "a blank line first": b"\r\n" + _OK + _LENGTH + b"\r\nhello",
    "an interim reply": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + _OK + _LENGTH + b"\r\nhello",
    "code 99": _status(b"HTTP/1.1 99 Odd"),
    "code 999": _status(b"HTTP/1.1 999 Denied"),
    "code 2000": _status(b"HTTP/1.1 2000 Odd"),
    "code abc": _status(b"HTTP/1.1 abc Odd"),
    # Lines
    "line feeds only": b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
    "an empty value": _line(b"X:"),
    "a blank before the colon": _line(b"X : a"),
    "a blank before the colon of the length": _length(b"Content-Length : 5"),
    "a folded line": _line(b"X: a\r\n b"),
    "a first line that is folded": _line(b" X: a"),
    "no colon": _line(b"garbage"),
    "an empty name": _line(b": a"),
    "a name with brackets": _line(b"X(y): a"),
    "a name with a blank": _line(b"X y: a"),
    "a name in UTF-8": _line("Xü: a".encode()),
    "a value with a tab": _line(b"X: a\tb"),
    "a value with a control character": _line(b"X: a\x01b"),
    "a value with an escape": _line(b"X: a\x1b[1mb"),
    "a value with a NUL": _line(b"X: a\0b"),
    "a value with a carriage return": _line(b"X: a\rb"),
    "a value in UTF-8": _line("X: ü".encode()),
    "a value in Latin-1": _line(b"X: \xfc"),
    "ninety lines": _line(b"\r\n".join(b"X-%d: 1" % n for n in range(90))),
    "a long value": _line(b"X: " + b"a" * 20_000),
    # Lengths
    "the length twice": _line(b"Content-Length: 5"),
    "the length as a list": _length(b"Content-Length: 5, 5"),
    "two lengths": _line(b"Content-Length: 4"),
    "a length with a plus": _length(b"Content-Length: +5"),
    "a length with zeros": _length(b"Content-Length: 05"),
    "a length with a fraction": _length(b"Content-Length: 5.0"),
    "a negative length": _length(b"Content-Length: -1"),
    "an empty length": _length(b"Content-Length:"),
    "a length with a unit": _length(b"Content-Length: 5 bytes"),
    "a length that is a word": _length(b"Content-Length: five"),
    "a body that is cut": _length(b"Content-Length: 9"),
    "a body that is longer": _length(b"Content-Length: 3"),
    "neither length nor coding": _length(b"X: a"),
    # Chunks
    "chunks": _CHUNKED + b"5\r\nhello\r\n0\r\n\r\n",
    "chunks and a length": _OK + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "chunks in capitals": _OK + b"Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "a coding identity": _line(b"Transfer-Encoding: identity"),
    "a blank behind a size": _CHUNKED + b"5 \r\nhello\r\n0\r\n\r\n",
    "a size with zeros": _CHUNKED + b"00000005\r\nhello\r\n0\r\n\r\n",
    "an extension": _CHUNKED + b"5;a=b\r\nhello\r\n0\r\n\r\n",
    "line feeds behind sizes": _CHUNKED + b"5\nhello\r\n0\r\n\r\n",
    "line feeds behind everything": _CHUNKED + b"5\nhello\n0\n\n",
    "a size with 0x": _CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n",
    "no last chunk": _CHUNKED + b"5\r\nhello\r\n",
    "an end that is cut": _CHUNKED + b"5\r\nhello\r\n0\r\n",
    "a chunk that is longer": _CHUNKED + b"5\r\nhelloxx\r\n0\r\n\r\n",
    "trailers": _CHUNKED + b"5\r\nhello\r\n0\r\nX: 1\r\nY: 2\r\n\r\n",
    "a trailer without a colon": _CHUNKED + b"5\r\nhello\r\n0\r\ngarbage\r\n\r\n",
    # Codings
    "gzip": _coded(b"gzip", _GZIP),
    "GZIP": _coded(b"GZIP", _GZIP),
    "x-gzip": _coded(b"x-gzip", _GZIP),
    "gzip with zeros behind it": _coded(b"gzip", _GZIP + bytes(20)),
    "gzip with garbage behind it": _coded(b"gzip", _GZIP + b"garbage"),
    "gzip of two members": _coded(b"gzip", _GZIP + _GZIP),
    "gzip without its checksum": _coded(b"gzip", _GZIP[:-8]),
    "gzip with half of its checksum": _coded(b"gzip", _GZIP[:-4]),
    "gzip that is cut": _coded(b"gzip", _GZIP[:-14]),
    "gzip with another checksum": _coded(b"gzip", _GZIP[:-8] + b"\1\2\3\4" + _GZIP[-4:]),
    "gzip of nothing": _coded(b"gzip", b""),
    "gzip of plain text": _coded(b"gzip", b"plain text"),
    "gzip twice": _coded(b"gzip, gzip", gzip.compress(_GZIP)),
    "gzip in two lines": _coded(b"gzip", gzip.compress(_GZIP), b"Content-Encoding: gzip\r\n"),
    "identity": _coded(b"identity", b"hello"),
    "none": _coded(b"none", b"hello"),
    "utf-8": _coded(b"utf-8", b"hello"),
    "no coding": _coded(b"", b"hello"),
    "deflate": _coded(b"deflate", _ZLIB),
    "raw deflate": _coded(b"deflate", _ZLIB[2:-4]),
    "deflate that is cut": _coded(b"deflate", _ZLIB[:-6]),
    "deflate without its checksum": _coded(b"deflate", _ZLIB[:-4]),
    "deflate with zeros behind it": _coded(b"deflate", _ZLIB + bytes(2)),
}  # fmt: skip
