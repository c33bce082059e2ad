"""From recorded exchanges to the draft of a scenario: targets, headers that matter, bodies, pauses."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from plimsoll.sources.content.operations import ERRORS, graphql_operation
from plimsoll.sources.draft import DraftPart, DraftStep, DraftTarget, ReplyValue, ScenarioDraft, Text, Variable
from plimsoll.sources.exchange import media_type, url_parts
from plimsoll.sources.har_sockets import BINARY_KIND, telling_keys
from plimsoll.sources.placeholders import parts_with_variables
from plimsoll.sources.reply_values import cookies_of
from plimsoll.sources.secret_values import free_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.sources.draft import BodyKind
    from plimsoll.sources.exchange import FormPart, RecordedExchange, Recording

SHORTEST_PAUSE_S = 0.5
"""A shorter time between two requests is the browser's own, not a pause of its user."""
LONGEST_PAUSE_S = 60.0
"""A longer one is a break in the recording, and is cut to this."""
_CONNECTION = frozenset((
    "host", "connection", "content-length", "keep-alive", "proxy-connection", "transfer-encoding", "te", "upgrade",
    "accept-encoding", "expect",
))  # fmt: skip
"""Headers that the engine writes itself. `Host` stays if it names another host than the URL."""
BROWSER_HEADERS = re.compile(
    r"user-agent|accept-language|sec-.*|upgrade-insecure-requests|cache-control|pragma|dnt|priority|referer|origin"
    r"|if-none-match|if-modified-since|purpose|x-client-data|alt-used|accept-charset",
)
"""Headers that a browser adds to each request."""
_ANYTHING = re.compile(r"\*/\*|text/html,.*|image/.*|text/css,.*")
"""Values of Accept that a browser sends by itself."""


def draft_of(recording: Recording) -> ScenarioDraft:
    """The scenario of one recording, without values that come from replies, and with its secrets still in place."""
    draft = ScenarioDraft((recording.name,), [], [], notes=list(recording.notes), left_out=dict(recording.left_out))
    draft.weights = dict(recording.weights)
    sets_cookies = False
    known_cookies: set[str] = set()
    """Names of the cookies that replies have set so far."""
    missing: dict[str, None] = {}
    """Names of the cookies that requests sent although no reply set them, in order."""
    for exchange in recording.exchanges:
        parts = urlsplit(exchange.url)
        target = DraftTarget(f"{parts.scheme}://{parts.netloc}", exchange.connection)
        if target not in draft.targets:
            draft.targets.append(target)
        path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        step = DraftStep(exchange, draft.targets.index(target), _text(path), [])
        _add_body(step, exchange)
        step.auth = [(name, _text(value)) for name, value in exchange.auth.fields] if exchange.auth else []
        step.contains, step.think = [*exchange.expected_texts], exchange.think
        if graphql_operation(exchange) and exchange.reply and exchange.reply.body and ERRORS not in exchange.reply.text:
            step.lacks.append(ERRORS)
        has_jar = sets_cookies or (recording.of_browser and exchange.reply is not None)
        step.headers = [
            (name, _text(value))
            for name, value in exchange.headers
            if (_matters(name, value, step, recording.of_browser, parts.netloc) or _leads_back(name, value, exchange))
            and not (has_jar and name.lower() == "cookie")
        ]
        if exchange.header("cookie"):
            draft.cookies = draft.cookies or has_jar
            if has_jar:
                missing |= dict.fromkeys(name for name in _sent_cookies(exchange) if name not in known_cookies)
        if exchange.reply is not None:
            known_cookies |= {name for name, _ in cookies_of(exchange.reply)}
            sets_cookies = sets_cookies or bool(exchange.reply.header("set-cookie"))
        draft.steps.append(step)
    draft.cookies = draft.cookies or sets_cookies
    if missing:
        are = f"Cookies {', '.join(missing)} are" if len(missing) > 1 else f"Cookie {next(iter(missing))} is"
        draft.notes.append(
            f"{recording.name}: {are} not in the scenario, because no reply had set what the requests sent: the "
            "recording was made while logged in, or a script of the page sets it"
        )
    _add_pauses(draft.steps)
    draft.cookies = draft.cookies or recording.has_cookies
    if recording.has_placeholders:
        _put_variables(draft, recording.data)
    return draft


def _sent_cookies(exchange: RecordedExchange) -> Iterator[str]:
    """Their names."""
    for key, value in exchange.headers:
        if key.lower() == "cookie":
            yield from (pair.partition("=")[0].strip() for pair in value.split(";") if "=" in pair)


def _put_variables(draft: ScenarioDraft, data: Mapping[str, list[str]]) -> None:
    """The source names variables and says from which replies of the same flow they come. data: those that it has in
    rows; columns with fewer rows begin again."""
    columns: dict[str, Variable] = {}
    longest = max(map(len, data.values()), default=0)
    for called, values in data.items():
        variable = columns[called] = Variable(free_name(called, draft), "data")
        draft.data[variable.name] = list(itertools.islice(itertools.cycle(values), longest))
        draft.samples[variable.name] = values[0]
    names, flow = dict(columns), ""
    for step in draft.steps:
        if step.exchange.flow != flow:
            names, flow = dict(columns), step.exchange.flow
        step.path, step.body = (parts_with_variables(text, names) for text in (step.path, step.body))
        step.headers = [(name, parts_with_variables(text, names)) for name, text in step.headers]
        step.auth = [(name, parts_with_variables(text, names)) for name, text in step.auth]
        step.parts = [replace(part, text=parts_with_variables(part.text, names)) for part in step.parts]
        for value in step.exchange.extracts:
            name = free_name(value.name, draft)
            names[value.name] = Variable(name, "reply")
            draft.samples[name] = ""
            step.extracts.append(ReplyValue(name, value.kind, value.what, "as the source says"))


def _text(value: str) -> Text:
    return (value,) if value else ()


def _matters(name: str, value: str, step: DraftStep, of_browser: bool, host: str) -> bool:
    """Whether a header is a part of what the request says."""
    lower = name.lower()
    if lower == "host":
        return value != host
    if lower.startswith(":") or lower in _CONNECTION:
        return False
    if lower == "content-type":
        return media_type(value) != _IMPLIED.get(step.kind)
    if not of_browser:
        return True
    return not (BROWSER_HEADERS.fullmatch(lower) or (lower == "accept" and _ANYTHING.fullmatch(value)))


def _leads_back(name: str, value: str, exchange: RecordedExchange) -> bool:
    """Whether it is the page that a request came from, and the reply leads back there: it may do so by this header."""
    if name.lower() != "referer" or exchange.reply is None:
        return False
    location = url_parts(exchange.reply.header("location"), exchange.url)
    return bool(exchange.reply.header("location")) and location.geturl().partition("#")[0] == value


_IMPLIED = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "parts": "multipart/form-data",
}
"""The Content-Type that a body brings, by its kind."""


def _add_body(step: DraftStep, exchange: RecordedExchange) -> None:
    content_type = media_type(exchange.header("content-type"))
    if exchange.socket == "send" and exchange.body and exchange.body.lstrip()[:1] == b"{":
        content_type = "application/json"
    if exchange.socket == "receive" and exchange.reply is not None:
        step.equals = telling_keys(exchange.reply.body or b"")
    if exchange.kind == BINARY_KIND:
        step.kind = "bytes"
    elif exchange.body_file is not None:
        step.kind = "file"
    elif exchange.parts:
        step.kind = "parts"
        step.parts = [_part(part) for part in exchange.parts]
    elif exchange.body is not None:
        try:
            text = exchange.body.decode()
        except UnicodeDecodeError:
            step.kind = "bytes"
            return
        step.kind, step.body = _kind(text, content_type), _text(text)


def _kind(text: str, content_type: str) -> BodyKind:
    if content_type == "application/x-www-form-urlencoded" and "=" in text:
        return "form"
    if content_type == "application/json" or content_type.endswith("+json"):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return "text"
        return "json"
    return "text"


def _part(part: FormPart) -> DraftPart:
    try:
        return DraftPart(part.name, _text(part.content.decode()), None, part.filename, part.content_type)
    except UnicodeDecodeError:
        return DraftPart(part.name, (), part.content, part.filename, part.content_type)


def _add_pauses(steps: list[DraftStep]) -> None:
    """A pause where the person read or typed: from the end of all earlier replies to the next request."""
    end: float | None = None
    for step, following in itertools.pairwise(steps):
        start, duration = step.exchange.start, step.exchange.duration
        if start is not None:
            end = max(end or 0.0, start + (duration or 0.0))
        if end is not None and following.exchange.start is not None:
            pause = following.exchange.start - end
            if pause >= SHORTEST_PAUSE_S:
                step.think = round(min(pause, LONGEST_PAUSE_S), 1)
