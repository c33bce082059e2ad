"""The options of curl: which take a value, and what each means for a request."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHORT = {
    "A": "user-agent", "b": "cookie", "c": "cookie-jar", "C": "continue-at", "d": "data", "D": "dump-header",
    "e": "referer", "E": "cert", "f": "fail", "F": "form", "g": "globoff", "G": "get", "h": "help", "H": "header",
    "i": "include", "I": "head", "j": "junk-session-cookies", "J": "remote-header-name", "k": "insecure",
    "K": "config", "L": "location", "m": "max-time", "M": "manual", "n": "netrc", "N": "no-buffer", "o": "output",
    "O": "remote-name", "p": "proxytunnel", "q": "disable", "r": "range", "R": "remote-time", "s": "silent",
    "S": "show-error", "T": "upload-file", "u": "user", "U": "proxy-user", "v": "verbose", "V": "version",
    "w": "write-out", "x": "proxy", "X": "request", "y": "speed-time", "Y": "speed-limit", "z": "time-cond",
    "Z": "parallel", "0": "http1.0", "1": "tlsv1", "4": "ipv4", "6": "ipv6", "#": "progress-bar", ":": "next",
}  # fmt: skip
"""Long names by letter."""
NOTHING = frozenset((
    "fail", "fail-with-body", "fail-early", "include", "show-headers", "silent", "show-error", "verbose", "no-buffer",
    "progress-bar", "no-progress-meter", "compressed", "globoff", "http1.1", "no-keepalive", "remote-name",
    "remote-header-name", "remote-time", "disable", "ipv4", "junk-session-cookies", "path-as-is", "no-alpn", "parallel",
    "tcp-nodelay", "styled-output", "no-styled-output", "create-dirs", "trace-time", "ssl-no-revoke", "post301",
    "post302", "post303", "remove-on-error", "no-sessionid", "tlsv1", "tlsv1.0", "tlsv1.1", "tlsv1.2", "tlsv1.3",
))  # fmt: skip
"""Options without a value that change nothing of the request, or nothing that a load test needs."""
NOTHING_WITH_VALUE = frozenset((
    "output", "output-dir", "dump-header", "write-out", "cookie-jar", "stderr", "trace", "trace-ascii",
    "keepalive-time", "parallel-max", "etag-save", "libcurl",
))  # fmt: skip
"""Options with a value for which the same holds."""
NAMED = {
    "location": "-L: plans do not follow redirects; each request of a chain is a step of its own",
    "location-trusted": "--location-trusted: plans do not follow redirects; each request of a chain is a step",
    "ipv6": "-6: the addresses of a target decide", "http1.0": "-0: requests are HTTP/1.1",
    "http3": "--http3: requests are HTTP/1.1", "http3-only": "--http3-only: requests are HTTP/1.1",
    "ntlm": "--ntlm is not done: the request is sent without credentials",
    "negotiate": "--negotiate is not done: the request is sent without credentials",
    "anyauth": "--anyauth: -u is sent as Basic", "netrc": "-n: .netrc is not read; use -u",
    "proxytunnel": "-p: a proxy tunnels https only", "ca-native": "--ca-native: certificates of the system are used",
    "proxy-insecure": "--proxy-insecure is not done", "proxy-http2": "--proxy-http2 is not done",
}  # fmt: skip
"""Options without a value that are not done, with what messages say of them."""
NAMED_WITH_VALUE = frozenset((
    "retry", "retry-delay", "retry-max-time", "limit-rate", "speed-time", "speed-limit", "max-redirs", "proxy-user",
    "interface", "continue-at", "range", "time-cond", "config", "ciphers", "tls13-ciphers", "curves", "tls-max",
    "connect-to", "unix-socket", "abstract-unix-socket", "noproxy", "preproxy", "socks4", "socks4a", "capath",
    "pinnedpubkey", "cert-type", "key-type", "pass", "doh-url",
    "max-filesize", "local-port", "dns-servers", "expect100-timeout", "etag-compare", "netrc-file", "proxy-header",
    "rate", "happy-eyeballs-timeout-ms", "referer-auto", "service-name", "request-target", "variable", "alt-svc",
    "hsts", "proto", "proto-default", "proto-redir",
))  # fmt: skip
"""Options with a value that are not done."""


@dataclass(slots=True)
class CurlOptions:
    """What the options of one request say."""

    urls: list[str] = field(default_factory=list)
    method: str = ""
    """"": as the body says."""
    headers: list[tuple[str, str]] = field(default_factory=list)
    removed_headers: set[str] = field(default_factory=set)
    """In small letters: `-H "Accept:"` takes a header away."""
    data: list[tuple[str, str]] = field(default_factory=list)
    """Kind (data, raw, binary, urlencode, json) and text."""
    data_file: str | None = None
    """The file that is the whole body."""
    forms: list[tuple[str, bool]] = field(default_factory=list)
    """name=value of -F, and whether the value is taken as it is."""
    upload: str | None = None
    user: str | None = None
    is_digest: bool = False
    """`user` answers challenges."""
    aws_sigv4: str | None = None
    """provider1:provider2:region:service; `user` has the keys."""
    get: bool = False
    head: bool = False
    is_json: bool = False
    is_literal: bool = False
    """URLs are not patterns."""
    insecure: bool = False
    authorities: str | None = None
    certificate: str | None = None
    key: str | None = None
    proxy: str | None = None
    http2: bool = False
    max_time: float | None = None
    """Seconds."""
    resolved: dict[tuple[str, int], str] = field(default_factory=dict)
    """Addresses by host and port."""
    notes: list[str] = field(default_factory=list)
    """Options that are not done."""


def parse(words: list[str], where: str) -> list[CurlOptions]:
    """The options of one command; of several requests if it has --next. Raises UsageError."""
    requests = [CurlOptions()]
    rest = iter(words)
    for word in rest:
        if word == "--":
            requests[-1].urls += rest
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if name == "next":
                requests.append(CurlOptions())
            else:
                _apply(requests[-1], name, value if equals else None, rest, where)
        elif word.startswith("-") and len(word) > 1:
            _short(requests, word[1:], rest, where)
        elif word.startswith((">", "2>", "<")):
            # A redirection of the shell, and its file.
            if word in (">", "2>", ">>", "<"):
                next(rest, None)
        else:
            requests[-1].urls.append(word)
    return requests


def _short(requests: list[CurlOptions], letters: str, rest: Iterator[str], where: str) -> None:
    """-sSL, -XPOST, -d@file"""
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter not in SHORT:
            raise UsageError(f"{where}: -{letter} is no option of curl")
        name = SHORT[letter]
        if name == "next":
            requests.append(CurlOptions())
        elif _takes_value(name):
            _apply(requests[-1], name, letters or None, rest, where)
            return
        else:
            _apply(requests[-1], name, None, rest, where)


def _takes_value(name: str) -> bool:
    return name in NOTHING_WITH_VALUE or name in NAMED_WITH_VALUE or name in VALUES


def _apply(options: CurlOptions, name: str, value: str | None, rest: Iterator[str], where: str) -> None:
    if _takes_value(name):
        if value is None and (value := next(rest, None)) is None:
            raise UsageError(f"{where}: --{name} needs a value")
        if name in VALUES:
            VALUES[name](options, value, where)
        elif name in NAMED_WITH_VALUE:
            options.notes.append(f"--{name} is not done")
    elif name in SWITCHES:
        SWITCHES[name](options)
    elif name in NAMED:
        options.notes.append(NAMED[name])
    elif name not in NOTHING:
        known = [*NOTHING, *NOTHING_WITH_VALUE, *NAMED, *NAMED_WITH_VALUE, *VALUES, *SWITCHES]
        meant = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
        hint = f"; did you mean --{meant[0]}?" if meant else ""
        raise UsageError(f"{where}: --{name} is no option of curl that is known here{hint}")
    if name == "globoff":
        options.is_literal = True


def _header(options: CurlOptions, value: str, where: str) -> None:
    if value.startswith("@"):
        options.notes.append(f"-H {value}: headers of a file are not read; write each with -H")
        return
    name, colon, text = value.partition(":")
    if "'" in name or '"' in name:
        raise UsageError(
            f"{where}: the name of a header has a quote: -H {name}…; one pair of quotes goes around it all"
        )
    if colon and text.strip():
        options.headers.append((name.strip(), text.strip()))
    elif colon:
        options.removed_headers.add(name.strip().lower())
    elif name.endswith(";"):
        options.headers.append((name[:-1].strip(), ""))
    else:
        raise UsageError(f"{where}: -H {value!r} is no header; valid is -H 'Name: value'")


def _cookie(options: CurlOptions, value: str, where: str) -> None:
    if "=" in value:
        options.headers.append(("Cookie", value))
    else:
        options.notes.append(f"-b {value}: a file of cookies is not read; write -b 'name=value'")


def _data(kind: str) -> Callable[[CurlOptions, str, str], None]:
    def add(options: CurlOptions, value: str, where: str) -> None:
        options.data.append((kind, value))
        options.is_json = options.is_json or kind == "json"

    return add


def _form(options: CurlOptions, value: str, where: str) -> None:
    options.forms.append((value, False))


def _form_string(options: CurlOptions, value: str, where: str) -> None:
    options.forms.append((value, True))


def _resolve(options: CurlOptions, value: str, where: str) -> None:
    host, colon, rest = value.lstrip("+").partition(":")
    port, second, addresses = rest.partition(":")
    if not (colon and second and port.isdigit()):
        raise UsageError(f"{where}: --resolve {value} is not understood; valid is --resolve host:port:address")
    options.resolved[host.lower(), int(port)] = addresses.partition(",")[0]


def _max_time(options: CurlOptions, value: str, where: str) -> None:
    try:
        options.max_time = float(value)
    except ValueError as error:
        raise UsageError(f"{where}: --max-time {value} is no number of seconds") from error


def _certificate(options: CurlOptions, value: str, where: str) -> None:
    options.certificate = value.partition(":")[0] if value.count(":") == 1 and "\\" not in value else value
    if options.certificate != value:
        options.notes.append("--cert: the password of a certificate is not used; write the key without one")


def _request_line(name: str) -> Callable[[CurlOptions, str, str], None]:
    def add(options: CurlOptions, value: str, where: str) -> None:
        options.headers.append((name, value))

    return add


def _field(name: str, prefix: str = "") -> Callable[[CurlOptions, str, str], None]:
    def put(options: CurlOptions, value: str, where: str) -> None:
        setattr(options, name, prefix + value)

    return put


VALUES: dict[str, Callable[[CurlOptions, str, str], None]] = {
    "header": _header, "cookie": _cookie, "user-agent": _request_line("User-Agent"),
    "referer": _request_line("Referer"),
    "oauth2-bearer": lambda options, value, _: options.headers.append(("Authorization", f"Bearer {value}")),
    "data": _data("data"), "data-ascii": _data("data"), "data-raw": _data("raw"), "data-binary": _data("binary"),
    "data-urlencode": _data("urlencode"), "json": _data("json"),
    "url-query": lambda options, value, _: options.notes.append(f"--url-query {value}: put it into the URL"),
    "form": _form, "form-string": _form_string, "upload-file": _field("upload"), "request": _field("method"),
    "socks5": _field("proxy", "socks5://"), "socks5-hostname": _field("proxy", "socks5h://"),
    "user": _field("user"), "url": lambda options, value, _: options.urls.append(value), "proxy": _field("proxy"),
    "cacert": _field("authorities"), "cert": _certificate, "key": _field("key"), "resolve": _resolve,
    "aws-sigv4": _field("aws_sigv4"),
    "max-time": _max_time, "connect-timeout": lambda options, value, _: options.notes.append(
        f"--connect-timeout {value}: write idle_timeout into the plan"),
}  # fmt: skip
"""What an option with a value does; the third argument is the place for messages."""
SWITCHES: dict[str, Callable[[CurlOptions], None]] = {
    "get": lambda options: setattr(options, "get", True),
    "head": lambda options: setattr(options, "head", True),
    "insecure": lambda options: setattr(options, "insecure", True),
    "http2": lambda options: setattr(options, "http2", True),
    "http2-prior-knowledge": lambda options: setattr(options, "http2", True),
    "basic": lambda options: None,
    "digest": lambda options: setattr(options, "is_digest", True),
}
"""What an option without a value does."""
