"""Commands of curl, as people write them and as browsers copy them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, urlsplit, urlunsplit

from plimsoll.errors import UsageError
from plimsoll.load.origins import basic_authorization
from plimsoll.plain_text import without_userinfo
from plimsoll.sources import curl_options
from plimsoll.sources.collections.auth import digest_auth
from plimsoll.sources.exchange import Connection, DeclaredAuth, FormPart, RecordedExchange, Recording
from plimsoll.sources.shell_words import shell_commands
from plimsoll.sources.source_input import existing_file, file_in

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.sources.curl_options import CurlOptions
    from plimsoll.sources.source_input import SourceInput

_CURL = re.compile(r"^[\s>$%#]*(?:\S*[/\\])?curl(?:\.exe)?\s", re.IGNORECASE | re.MULTILINE)
_NAMES = ("curl", "curl.exe")
_PROMPTS = ("$", ">", "%")
_USERINFO = re.compile(r"^(\w+://)?[^/]*@")
_GLOB = re.compile(r"\{[^{}]*,[^{}]*\}|\[[0-9a-zA-Z]+-[0-9a-zA-Z]+(?::\d+)?\]")


def is_curl(source: SourceInput) -> bool:
    """Whether a text has a command of curl at the beginning of a line, and is no document of another kind."""
    return not source.beginning.lstrip().startswith(("{", "<", "[")) and bool(_CURL.search(f"{source.beginning}\n"))


def read_curl(source: SourceInput) -> Recording:
    """The requests of its commands, in order. Raises UsageError with the line of the command."""
    exchanges: list[RecordedExchange] = []
    notes: list[str] = []
    for command in shell_commands(source.text, source.name, source.environment):
        where = f"{source.name}:{command.line}"
        words = [word for number, word in enumerate(command.words) if number or word not in _PROMPTS]
        if not words or (words[0] in ("#", "#!/bin/sh", "set", "cd", "export", "echo", "sleep")):
            continue
        if re.split(r"[/\\]", words[0])[-1].lower() not in _NAMES:
            hint = "; put URLs and texts with & into quotes" if exchanges else ""
            raise UsageError(f"{where}: {words[0]!r} is no command of curl{hint}")
        for options in curl_options.parse(words[1:], where):
            exchanges += _requests(options, source.folder, where, notes)
    of_browser = any(exchange.header("user-agent").startswith("Mozilla/") for exchange in exchanges)
    return Recording(source.name, tuple(exchanges), tuple(notes), of_browser=of_browser)


def _requests(options: CurlOptions, folder: Path | None, where: str, notes: list[str]) -> list[RecordedExchange]:
    """One for each URL of a command."""
    if not options.urls:
        raise UsageError(f"{where}: the command has no URL")
    notes += [f"{where}: {note}" for note in options.notes]
    proxy = _USERINFO.sub(r"\1", options.proxy or "")
    if proxy != (options.proxy or ""):
        notes.append(f"{where}: user and password of the proxy are not written; the proxy is used without them")
        options.proxy = proxy
    return [_request(options, url, folder, where, notes) for url in options.urls]


def _request(options: CurlOptions, url: str, folder: Path | None, where: str, notes: list[str]) -> RecordedExchange:
    data, body_file, is_file = _data(options, folder, where), options.upload, options.upload is not None
    parts = tuple(_part(text, is_string, folder, where) for text, is_string in options.forms)
    if sum((data is not None, is_file, bool(parts))) > 1:
        raise UsageError(f"{where}: -d, -F and -T do not go together; a request has one body")
    method = options.method or ("HEAD" if options.head else "PUT" if is_file else "")
    if options.get and data is not None:
        url = _with_query(url, data.decode("utf-8", "replace"))
        data = None
    method = method or ("GET" if data is None and not parts and options.data_file is None else "POST")
    if options.data_file is not None and data is None:
        body_file = options.data_file
    if body_file is not None:
        body_file = existing_file(body_file, folder, where)
    for path in filter(None, (options.authorities, options.certificate, options.key)):
        # The run reads these.
        file_in(folder, path, where)
    address, headers = _address(options, url, where, notes)
    headers += _headers(options, has_data=data is not None or options.data_file is not None)
    return RecordedExchange(
        method=method, url=address, headers=tuple(headers), body=data, parts=parts, body_file=body_file,
        timeout=options.max_time, where=where, auth=_auth(options, where, notes),
        connection=Connection(
            verify=options.authorities or not options.insecure, certificate=options.certificate, key=options.key,
            proxy=options.proxy, http2=options.http2,
        ),
    )  # fmt: skip


def _address(options: CurlOptions, url: str, where: str, notes: list[str]) -> tuple[str, list[tuple[str, str]]]:
    """The URL without user, and the headers that come of it."""
    if "://" not in url:
        url = f"http://{url}"
    if not options.is_literal and (glob := _GLOB.search(url)):
        raise UsageError(f"{where}: curl makes several URLs of {glob[0]}; write each of them, or say --globoff")
    parts = urlsplit(url)
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{where}: {without_userinfo(url)!r} is not a URL that can be loaded; valid is http://…")
    headers: list[tuple[str, str]] = []
    userinfo, at, host = parts.netloc.rpartition("@")
    user = options.user or (userinfo if at else None)
    given = {name.lower() for name, _ in options.headers} | options.removed_headers
    # As for curl, a header that is given replaces the one of -u.
    if user is not None and "authorization" not in given and not (options.is_digest or options.aws_sigv4):
        headers.append(("Authorization", basic_authorization(user)))
    try:
        port = parts.port or {"http": 80, "https": 443}[parts.scheme.lower()]
    except ValueError as error:
        raise UsageError(f"{where}: {without_userinfo(url)!r}: {error}") from error
    if (address := options.resolved.get((parts.hostname.lower(), port))) is not None:
        if parts.scheme.lower() == "http":
            headers.append(("Host", host))
            host = f"{address}:{port}"
        else:
            notes.append(f"{where}: --resolve with https: make {parts.hostname} resolve to {address} in /etc/hosts")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~[]")
    return urlunsplit((parts.scheme.lower(), host, path, parts.query, "")), headers


def _auth(options: CurlOptions, where: str, notes: list[str]) -> DeclaredAuth | None:
    """What plans do themselves: --digest and --aws-sigv4."""
    user, _, password = (options.user or "").partition(":")
    if options.aws_sigv4 is None:
        return digest_auth(user, password) if options.is_digest else None
    _, _, region, service = [*options.aws_sigv4.split(":"), "", "", ""][:4]
    if not (region and service):
        why = "name region and service, as in aws:amz:eu-central-1:s3; the request is not signed"
        notes.append(f"{where}: --aws-sigv4 {options.aws_sigv4}: {why}")
        return None
    keys = (("access_key", user), ("secret_key", password))
    return DeclaredAuth("aws_sigv4", (*keys, ("region", region), ("service", service)))


def _headers(options: CurlOptions, *, has_data: bool) -> list[tuple[str, str]]:
    headers = list(options.headers)
    names = {name.lower() for name, _ in headers} | options.removed_headers
    implied = []
    if options.is_json:
        implied += [("Content-Type", "application/json"), ("Accept", "application/json")]
    elif has_data and not options.get:
        implied.append(("Content-Type", "application/x-www-form-urlencoded"))
    return headers + [(name, value) for name, value in implied if name.lower() not in names]


def _data(options: CurlOptions, folder: Path | None, where: str) -> bytes | None:
    """The joined values of all --data options; None without one, or if a file is the whole body."""
    pieces: list[bytes] = []
    for kind, text in options.data:
        if kind == "raw" or (kind in ("data", "binary", "json") and not text.startswith("@")):
            pieces.append(text.encode())
        elif kind == "urlencode":
            pieces.append(_url_encoded(text, folder, where).encode())
        elif kind == "binary" and len(options.data) == 1 and text != "@-":
            # It is sent as it is, so it may stay a file.
            options.data_file = text[1:]
        else:
            content = _file(text[1:], folder, where)
            pieces.append(content if kind != "data" else re.sub(rb"[\r\n\0]", b"", content))
    if not pieces:
        return None
    return (b"" if options.is_json else b"&").join(pieces)


def _url_encoded(text: str, folder: Path | None, where: str) -> str:
    """content, =content, name=content, @file or name@file, as --data-urlencode has it."""
    match = re.match(r"([^=@]*)([=@])(.*)", text, re.DOTALL)
    if match is None:
        return quote_plus(text)
    name, mark, value = match.groups()
    content = value if mark == "=" else _file(value, folder, where).decode("utf-8", "replace")
    return f"{name}={quote_plus(content)}" if name else quote_plus(content)


def _part(text: str, is_string: bool, folder: Path | None, where: str) -> FormPart:
    """-F name=content, name=@file or name=<file, with ;type= and ;filename=; is_string: content is taken as it is."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{where}: -F {text!r} has no name; valid is -F name=value or -F name=@file")
    if is_string:
        return FormPart(name, value.encode())
    value, *settings = re.split(r";(?=\s*(?:type|filename|encoder|headers)=)", value)
    given = dict(setting.strip().partition("=")[::2] for setting in settings)
    content_type, filename = given.get("type"), given.get("filename")
    if value.startswith(("@", "<")):
        path = value[1:].strip('"')
        content = _file(path, folder, where)
        if value[0] == "<":
            return FormPart(name, content, filename, content_type)
        filename = filename or re.split(r"[/\\]", path)[-1]
        return FormPart(name, content, filename.strip('"'), content_type or "application/octet-stream")
    return FormPart(name, value.strip('"').encode() if value[:1] == '"' else value.encode(), filename, content_type)


def _file(path: str, folder: Path | None, where: str) -> bytes:
    if path == "-":
        raise UsageError(f"{where}: reads its body from the standard input; name a file instead")
    try:
        return file_in(folder, path, where).read_bytes()
    except OSError as error:
        raise UsageError(f"{where}: cannot read {path}: {error.strerror}") from error


def _with_query(url: str, query: str) -> str:
    base, mark, fragment = url.partition("#")
    return f"{base}{'&' if '?' in base else '?'}{query}{mark}{fragment}"
