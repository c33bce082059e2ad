"""Attributes: of the run, of its target, and of requests."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from plimsoll.outputs.otlp.settings import header_pairs
from plimsoll.record import FAILURES

if TYPE_CHECKING:
    from plimsoll.outputs.output import OutputRun

HTTP_METHODS = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"})
"""Of the semantic conventions. Other methods are `_OTHER` there."""
Attributes = tuple[tuple[str, str], ...]


def resource_attributes(run: OutputRun) -> dict[str, str]:
    """Attributes of the run. Attributes in environment variables replace the others."""
    named = os.environ.get("OTEL_SERVICE_NAME", "")
    own = {
        "service.name": "plimsoll",
        "service.version": run.version,
        "service.instance.id": run.id,
        "host.name": socket.gethostname(),
        "plimsoll.run": run.id,
        "plimsoll.scenario": run.name,
        "plimsoll.model": run.model,
        "vcs.ref.head.revision": run.commit,
        **{f"plimsoll.{name}": text for name, text in run.labels.items()},
        **header_pairs(os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")),
        **({"service.name": named} if named else {}),
    }
    return {key: text for key, text in own.items() if text}


def fill_resource(resource: Any, run: OutputRun) -> None:
    for key, value in resource_attributes(run).items():
        set_attribute(resource.attributes, key, value)


def set_attribute(attributes: Any, key: str, value: Any) -> None:
    """value: JSON."""
    if value is None:
        return
    added = attributes.add()
    added.key = key
    _set_value(added.value, value)


def _set_value(field: Any, value: Any) -> None:
    match value:
        case bool():
            field.bool_value = value
        case int():
            field.int_value = value
        case float():
            field.double_value = value
        case Mapping():
            field.kvlist_value.SetInParent()
            for name, part in value.items():
                set_attribute(field.kvlist_value.values, str(name), part)
        case Sequence() if not isinstance(value, str):
            field.array_value.SetInParent()
            for part in value:
                _set_value(field.array_value.values.add(), part)
        case None:
            pass
        case _:
            field.string_value = str(value)


def request_attributes(method: str, name: str, outcome: str, server: Attributes) -> Attributes:
    """Of requests that ended with this outcome, by the semantic conventions for HTTP clients."""
    known = method if method in HTTP_METHODS else "_OTHER"
    original = () if known == method else (("http.request.method_original", method),)
    failed = (("error.type", outcome),) if outcome in FAILURES else ()
    return (("http.request.method", known), *original, ("url.template", name), *server, *failed)


def server_attributes(host: str) -> Attributes:
    """Of the target, if there is one target and it has a URL."""
    try:
        parts = urlsplit(host)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return ()
    if not parts.hostname or "," in host:
        return ()
    return (("server.address", parts.hostname), *((("server.port", str(port)),) if port else ()))
