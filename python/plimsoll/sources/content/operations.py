"""What a request does that is sent to the path of others: an operation of GraphQL, a method of JSON-RPC, an action.

All operations of GraphQL go to one path, and an administration may send all its forms to one. Only the body tells them
apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from plimsoll.load.protocols.request_bodies import operations_of
from plimsoll.sources.exchange import url_parts
from plimsoll.sources.json_values import document_of, object_of

if TYPE_CHECKING:
    from plimsoll.sources.exchange import RecordedExchange

_GRAPHQL = re.compile(r"(?:\s|#[^\n]*\n)*(?:(query|mutation|subscription)\b\s*(\w*)|fragment\b|\{)")
ERRORS = '"errors"'
"""GraphQL replies with status 200 and this key."""
_ACTIONS = ("action", "op", "cmd", "_method")
"""Names of fields that say what a request does."""
_FORM = "application/x-www-form-urlencoded"
_LONGEST_ACTION = 100


@dataclass(frozen=True, slots=True)
class GraphqlOperation:
    """An operation of GraphQL."""

    kind: str
    """query, mutation or subscription."""
    name: str
    """"" if it has none."""


def graphql_operation(exchange: RecordedExchange) -> GraphqlOperation | None:
    """The operation that a request sends; None if it sends none, or several."""
    document = document_of(exchange.body) if exchange.socket is None else None
    text = object_of(document).get("query")
    if not isinstance(text, str) or (match := _GRAPHQL.match(text)) is None:
        return None
    named = operations_of(text)
    asked = object_of(document).get("operationName")
    name = asked if isinstance(asked, str) and asked.isidentifier() else match[2] or next(iter(named), "")
    return GraphqlOperation(named.get(name) or match[1] or "query", name)


def action_of(exchange: RecordedExchange) -> str:
    """What a request does, as its body or its query says; "" if they do not say."""
    operation = graphql_operation(exchange)
    if operation is not None:
        return f"{operation.kind} {operation.name}".rstrip()
    fields = object_of(document_of(exchange.body))
    if not fields and exchange.header("content-type").startswith(_FORM):
        fields = dict(parse_qsl((exchange.body or b"").decode("utf-8", "replace")))
    asked = dict(parse_qsl(url_parts(exchange.url).query))
    names = (*_ACTIONS, "method") if "jsonrpc" in fields else _ACTIONS
    said = (place.get(name) for place in (fields, asked) for name in names)
    return next((text for text in said if isinstance(text, str) and 0 < len(text) <= _LONGEST_ACTION), "")
