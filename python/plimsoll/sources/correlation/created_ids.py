"""Finds the reply that made a resource: the id in the path of a later request comes from it.

A list of all resources has the id, too, but at another place for each user. The reply that made it is known by its
request: POST /orders made /orders/7, and so did a POST whose reply leads to /orders/7. This is evidence even if the id
is the same in two recordings, as on a service that was set back between them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from plimsoll.sources.correlation.value_forms import VAGUE_LABELS, is_id_label
from plimsoll.sources.exchange import url_parts
from plimsoll.sources.reply_values import places_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.sources.draft import DraftStep
    from plimsoll.sources.reply_values import ReplyPlace
    from plimsoll.sources.request_values import RequestValue

_SEGMENT = re.compile(r"path segment (\d+)")
_DIGIT = re.compile(r"\d")
MAKING = frozenset(("POST", "PUT", "PATCH"))
"""Methods of requests whose reply may have a new id, or a new state."""


def collection_of(value: RequestValue, step: DraftStep) -> str:
    """The recorded path before a segment, without a slash at its end; "" for a value that is no segment, and for the
    first one."""
    match = _SEGMENT.fullmatch(value.place)
    return "/".join(path_of(step.exchange.url).split("/")[: int(match[1])]) if match else ""


def creations(steps: Sequence[DraftStep], number: int, value: RequestValue) -> Iterator[tuple[int, ReplyPlace]]:
    """The steps before step `number` whose replies made what a segment of its path names, the earliest first, and the
    places of the id in them, the likeliest first."""
    collection = collection_of(value, steps[number])
    for earlier in range(number) if collection else ():
        exchange = steps[earlier].exchange
        if exchange.method not in MAKING or exchange.reply is None:
            continue
        places = list(places_of(exchange.reply, value.value))
        if path_of(exchange.url) == collection:
            yield from ((earlier, place) for place in sorted(places, key=_rank) if _is_own_id(place, value.value))
        location = path_of(exchange.reply.header("location"), exchange.url)
        # A word is no id: /orders/new, /orders/7/edit.
        if _DIGIT.search(value.value) and f"{location}/".startswith(f"{collection}/{value.value}/"):
            yield from ((earlier, place) for place in places if place.is_redirect)


def path_of(url: str, base: str = "") -> str:
    """The path of a URL, decoded, without a slash at its end."""
    return unquote(url_parts(url, base).path).rstrip("/")


def _rank(place: ReplyPlace) -> int:
    return 0 if place.label.lower() in VAGUE_LABELS else 1


def _is_own_id(place: ReplyPlace, value: str) -> bool:
    """A number may be anything, so its key has to say that it is an id."""
    is_id = place.label.lower() in VAGUE_LABELS or is_id_label(place.label)
    return place.kind == "json" and (is_id or not value.isdigit())
