"""Finds the values that a client takes from earlier replies, by the evidence of one or two recordings.

With two recordings of one flow, a value is looked at if it differs between them; it comes from a place of an earlier
reply if each recording has its own value at that place. With one recording, a value is taken from an earlier reply if
it stood there and looks like nothing that a person types: this is only likely.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from plimsoll.sources.correlation.alignment import aligned
from plimsoll.sources.correlation.created_ids import MAKING, collection_of, creations, path_of
from plimsoll.sources.correlation.value_forms import VAGUE_LABELS, clock_form, is_id_label, is_telling, is_uuid
from plimsoll.sources.draft import ReplyValue, Variable
from plimsoll.sources.exchange import longest_word, percent_encoded
from plimsoll.sources.reply_values import ReplyPlace, encoded_places_of, places_of, value_at
from plimsoll.sources.request_values import request_values, with_variables, words_of
from plimsoll.sources.secret_values import free_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.sources.draft import DraftStep, ScenarioDraft
    from plimsoll.sources.exchange import RecordedReply
    from plimsoll.sources.request_values import RequestValue

MOST_SEARCHED = 300
"""Steps up to which every reply is searched for every value; in longer recordings only replies that have a word of it
are."""
_IN_TEXT = re.compile(r"(?:[\s>]|\\s)\(\[0-9\]\+\)$")
"""The pattern of a number that follows a space or an element."""
_SPACE = re.compile(r"\s")
_HEADERS = frozenset((
    "content-type", "accept", "accept-language", "user-agent", "host", "origin", "cookie", "range",
    "content-encoding", "cache-control", "x-requested-with",
))  # fmt: skip
"""Headers of requests that no reply decides."""
_WRAPPERS = frozenset(("data", "result", "results", "items", "attributes", "response", "body", "value", "values"))
"""Keys of replies that do not say what is in them."""
_CONDITIONS = frozenset(f"header {name}" for name in ("if-match", "if-none-match", "if-unmodified-since"))
"""Fields whose value says which state of the resource in the path the client knows."""


class Correlation:
    """The work on one draft. other: the draft of a second recording of the same flow. Raises UsageError if most steps
    of the first one are not in the second one."""

    def __init__(self, draft: ScenarioDraft, other: ScenarioDraft | None = None) -> None:
        self._draft, self._other = draft, other
        self._twins: list[DraftStep | None] = aligned(draft, other) if other else [None] * len(draft.steps)
        """The same step in the second recording; None if that has none."""
        self._known: dict[tuple[str, str | None], Variable] = {}
        """Variables by the value of the first recording and that of the second."""
        self._ids: dict[tuple[str, str], Variable] = {}
        """Variables by the path before an id, and by the id."""
        self._own: set[str] = set()
        """Values that the client sent before any reply had them."""

    def run(self) -> None:
        """Put a variable in place of each value that is not the client's own."""
        for number, step in enumerate(self._draft.steps):
            pairs = list(self._pairs(number, step))
            replaced = [pair for value, second in pairs for pair in self._replaced(number, value, second)]
            taken = {value for value, _ in replaced}
            self._own |= {value.value for value, _ in pairs if value not in taken}
            with_variables(step, replaced)
            twin = self._twins[number]
            step.other_reply = None if twin is None else twin.exchange.reply
        if self._other is None:
            self._note_made()

    def _note_made(self) -> None:
        """With one recording, say what the client may make anew each time."""
        for number, step in enumerate(self._draft.steps, 1):
            for value in request_values(step):
                if is_uuid(value.value):
                    self._draft.notes.append(
                        f"step {number} sends a UUID as {value.label} that no reply had: if the client makes a new one "
                        "each time, name two recordings, or write a variable there"
                    )

    def _pairs(self, number: int, step: DraftStep) -> Iterator[tuple[RequestValue, RequestValue | None]]:
        """The values of a step, and what the second recording has in their place; None if that has not the step."""
        values = [value for value in request_values(step) if _may_vary(value)]
        twin = self._twins[number]
        others = {} if twin is None else {value.place: value for value in request_values(twin)}
        yield from ((value, None if twin is None else others.get(value.place, value)) for value in values)

    def _replaced(
        self, number: int, value: RequestValue, second: RequestValue | None
    ) -> Iterator[tuple[RequestValue, Variable]]:
        """The variable in place of a value, or those in place of words of it. second: the value of the second
        recording; None if there is one recording of this step."""
        other = None if second is None else second.value
        source = self._source(number, value, other)
        if source is not None:
            yield value, self._taken(number, value, other, source)
        elif second is not None and other != value.value:
            words = self._words(number, value, second)
            for word, change in words:
                # An earlier word may be the same value.
                if (origin := self._source(number, word, change)) is not None:
                    yield word, self._taken(number, word, change, origin)
            if not words:
                yield value, self._clients_own(number, value, second.value)

    def _words(self, number: int, value: RequestValue, second: RequestValue) -> list[tuple[RequestValue, str]]:
        """The words of a value that differ between the recordings, and those of the second one, if they come from
        replies; else none."""
        twin = self._twins[number]
        if twin is None:
            return []
        frame, words = words_of(value, self._draft.steps[number])
        other_frame, others = words_of(second, twin)
        if frame != other_frame or not words or frame == "\0":
            return []
        pairs = [(word, other.value) for word, other in zip(words, others, strict=True) if word.value != other.value]
        # What has spaces may be a sentence of a person, in which a short word is there by chance.
        is_sentence = _SPACE.search(value.value) is not None
        if any(is_sentence and not is_telling(word.value) for word, _ in pairs):
            return []
        return pairs if all(self._source(number, word, other) for word, other in pairs) else []

    def _source(self, number: int, value: RequestValue, second: str | None) -> Variable | tuple[int, ReplyPlace] | None:
        """A variable that has the value, or the step whose reply has it and the place in that; None if it comes from no
        reply."""
        may_be_taken = second != value.value and (second is not None or is_telling(value.value) or _is_id(value))
        is_weak = second is None and value.place.startswith("path segment") and not is_telling(value.value)
        by_place = is_weak or not may_be_taken
        known = self._known_id(number, value) if by_place else self._known.get((value.value, second))
        source = known or self._creation(number, value, second)
        if source is None and may_be_taken and value.value not in self._own:
            source = self._origin(number, value, second)
            if source is None:
                self._note_encoded(number, value)
        return source

    def _taken(
        self, number: int, value: RequestValue, second: str | None, source: Variable | tuple[int, ReplyPlace]
    ) -> Variable:
        """The variable for a value that has a source."""
        if isinstance(source, Variable):
            return source
        step_number, place = source
        name = free_name(self._called(step_number, place, value), self._draft)
        comment = f"step {number + 1} sends it as {value.label}" if value.label else f"step {number + 1} sends it"
        if value.place.startswith("path segment"):
            comment = f"step {number + 1} has it in its path"
        if second is None:
            comment = f"one recording: likely; {comment}"
        elif second == value.value:
            comment = f"the same in both recordings: likely; {comment}"
        self._draft.steps[step_number].extracts.append(
            ReplyValue(name, place.kind, place.what, comment, place.part, place.decode, place.within)
        )
        variable = Variable(name, "reply")
        if collection := collection_of(value, self._draft.steps[number]):
            self._ids[collection, value.value] = variable
        return self._keep(variable, value.value, second)

    def _known_id(self, number: int, value: RequestValue) -> Variable | None:
        """The id of a resource that is in a path, or again in a field of the request whose path has it."""
        step = self._draft.steps[number]
        if collection := collection_of(value, step):
            return self._ids.get((collection, value.value))
        if value.label.lower() not in VAGUE_LABELS:
            return None
        segments = (item for item in request_values(step) if item.value == value.value)
        known = (self._ids.get((collection_of(item, step), item.value)) for item in segments)
        return next((variable for variable in known if variable is not None), None)

    def _creation(self, number: int, value: RequestValue, second: str | None) -> tuple[int, ReplyPlace] | None:
        """The step whose reply made what the value is the id of, and the place in that reply."""
        for earlier, place in creations(self._draft.steps, number, value):
            twin = self._twins[earlier]
            is_chosen = value.value in self._own and not value.value.isdigit()
            if not is_chosen and (second is None or (twin and value_at(twin.exchange.reply, place) == second)):
                return earlier, place
        return None

    def _origin(self, number: int, value: RequestValue, second: str | None) -> tuple[int, ReplyPlace] | None:
        """The step whose reply has the value, and the place in it: the latest one, or a better one before it."""
        origins = self._origins(number, value, second, places_of)
        latest = next(origins, None)
        if latest is None:
            return next(self._origins(number, value, second, encoded_places_of), None)
        if value.field.lower() in _CONDITIONS:
            path = path_of(self._draft.steps[number].exchange.url)
            is_of_resource = (item for item in (latest, *origins) if self._tells_of(item[0], path))
            return next(is_of_resource, latest)
        # What is first in a list is another one as soon as there are other users.
        if latest[1].is_in_list:
            return next((item for item in origins if self._is_made(*item)), latest)
        return latest

    def _tells_of(self, earlier: int, path: str) -> bool:
        """Whether a reply is about the resource of a path: that of its request, or one that it has made there."""
        exchange = self._draft.steps[earlier].exchange
        own = path_of(exchange.url)
        return own == path or (exchange.method in MAKING and own == path.rpartition("/")[0])

    def _is_made(self, earlier: int, place: ReplyPlace) -> bool:
        """Whether a reply has made something, and has the value at a place of its own."""
        return self._draft.steps[earlier].exchange.method in MAKING and not place.is_in_list

    def _origins(
        self,
        number: int,
        value: RequestValue,
        second: str | None,
        places_in: Callable[[RecordedReply, str], Iterator[ReplyPlace]],
    ) -> Iterator[tuple[int, ReplyPlace]]:
        """The steps whose replies have the value, the latest first, and the places in them, the most robust first."""
        word = longest_word(value.value) if len(self._draft.steps) > MOST_SEARCHED else ""
        for earlier in range(number - 1, -1, -1):
            reply = self._draft.steps[earlier].exchange.reply
            if reply is None or (word and word not in reply.words and value.value not in reply.leaves):
                continue
            twin = self._twins[earlier]
            for place in places_in(reply, value.value):
                if value_at(reply, place) != value.value or self._is_chance(number, value, place, reply):
                    continue
                if second is None:
                    if is_telling(value.value) or is_id_label(place.label):
                        yield earlier, place
                elif twin is not None and value_at(twin.exchange.reply, place) == second:
                    yield earlier, place

    def _is_chance(self, number: int, value: RequestValue, place: ReplyPlace, reply: RecordedReply) -> bool:
        """Whether a number in the text of a page is the id of a path by chance only, such as the length of a list whose
        last link was followed: the page has that link, too, and is not first in it."""
        is_text = place.kind == "regex" and _IN_TEXT.search(place.what) is not None
        if not (is_text and value.value.isdigit() and (collection := collection_of(value, self._draft.steps[number]))):
            return False
        return re.search(rf"{re.escape(collection)}/{value.value}(?!\d)", reply.text) is not None

    def _note_encoded(self, number: int, value: RequestValue) -> None:
        """A value that replies have only in another encoding stays as recorded."""
        forms = {percent_encoded(value.value), html.escape(value.value)} - {value.value}
        for earlier in range(number - 1, -1, -1) if forms else ():
            reply = self._draft.steps[earlier].exchange.reply
            if reply is not None and any(form in reply.searched for form in forms):
                self._draft.notes.append(
                    f"step {number + 1} sends {value.label or value.place}, which the reply of step {earlier + 1} has "
                    "in another encoding: it stays as recorded"
                )
                return

    def _called(self, number: int, place: ReplyPlace, value: RequestValue) -> str:
        """A name for the value at a place. An id is named after its resource: `order_id`."""
        if place.label.lower() in VAGUE_LABELS:
            if place.kind == "json" and place.owner.isidentifier() and place.owner.lower() not in _WRAPPERS:
                return f"{place.owner}_{place.label}"
            path = "".join(map(str, self._draft.steps[number].path)).partition("?")[0]
            words = [word for word in path.split("/") if word.isidentifier()]
            if words:
                return f"{words[-1].removesuffix('s')}_{place.label}"
        return value.label if place.label == "value" and value.label else place.label

    def _clients_own(self, number: int, value: RequestValue, second: str) -> Variable:
        """The variable for a value that differs between recordings and comes from no reply."""
        if is_uuid(value.value) and is_uuid(second):
            return self._keep(Variable("uuid", "made"), value.value, second)
        twin = self._twins[number]
        form = clock_form(value.value, self._draft.steps[number].exchange.sent_at)
        if form is not None and twin is not None and form == clock_form(second, twin.exchange.sent_at):
            return self._keep(Variable(form, "made"), value.value, second)
        name = free_name(value.label or "value", self._draft)
        self._draft.data[name] = [value.value, second]
        return self._keep(Variable(name, "data"), value.value, second)

    def _keep(self, variable: Variable, value: str, second: str | None) -> Variable:
        self._known[value, second] = variable
        self._draft.samples[variable.name] = value
        return variable


def _is_id(value: RequestValue) -> bool:
    """A number that stands where requests have ids."""
    return value.value.isdigit() and (value.place.startswith("path segment") or is_id_label(value.label))


def _may_vary(value: RequestValue) -> bool:
    name = value.field.removeprefix("header ").lower()
    return not value.field.startswith("header ") or name not in _HEADERS
