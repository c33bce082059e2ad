"""Which headers a scenario needs, by its proof: `--minimise`.

A header of a recording whose value is always the same is left out if the scenario is proven without it, and one that a
browser adds comes back if the scenario is not proven without it, as `Referer` for some forms.
"""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.redact import is_secret_header
from plimsoll.sources.draft import Variable, merged
from plimsoll.sources.drafting import BROWSER_HEADERS
from plimsoll.sources.proof.passes import one_pass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.sources.draft import DraftStep, ScenarioDraft, Text

MOST_PASSES = 60
"""Replays of a scenario; headers that are not tried by then stay."""
_KEPT = frozenset(("content-type", "host", "authorization"))
"""Headers that say what a body is, where it goes, or who sends it."""
_CONDITIONS = re.compile(r"if-.*|cache-control|pragma|range|cookie|accept-encoding")
"""Headers with which a reply is another one, as from a cache."""


@dataclass(frozen=True, slots=True)
class MinimisedHeaders:
    """The headers of a scenario after its proof."""

    draft: ScenarioDraft
    left_out: tuple[str, ...] = ()
    """Names of headers that the source has and the scenario does not need, in small letters."""
    brought_back: tuple[str, ...] = ()
    """Names of a browser's own headers without which it is not proven."""


def minimise(draft: ScenarioDraft) -> MinimisedHeaders:
    """The scenario with the static headers that it needs. Without a proof with all of them it stays as it is. Raises
    PlimsollError if no run came about."""
    return _Minimising(draft).run()


def bring_back(draft: ScenarioDraft) -> MinimisedHeaders:
    """The scenario with those headers of the browser without which it is not proven, if it is with all of them.
    Raises PlimsollError if no run came about."""
    return _Minimising(draft).bring_back()


class _Minimising:
    def __init__(self, draft: ScenarioDraft) -> None:
        self._draft = draft
        own = dict.fromkeys(name.lower() for step in draft.steps for name, _ in _static_headers(step))
        browser = dict.fromkeys(name for step in draft.steps for name, _ in _browser_headers(step))
        self._own, self._browser = tuple(own), tuple(name for name in browser if name not in own)
        self._passes = 0

    def run(self) -> MinimisedHeaders:
        if self._is_proven(()):
            return MinimisedHeaders(_with_headers(self._draft, ()), self._own)
        candidates = (*self._own, *self._browser)
        if not candidates or not self._is_proven(candidates):
            return MinimisedHeaders(self._draft)
        # One of them may do for all: the scenario's own headers are tried before those of the browser.
        needed = self._own if self._own and self._is_proven(self._own) else candidates
        needed = self._reduced(needed)
        left_out = tuple(name for name in self._own if name not in needed)
        brought_back = tuple(name for name in self._browser if name in needed)
        return MinimisedHeaders(_with_headers(self._draft, needed), left_out, brought_back)

    def bring_back(self) -> MinimisedHeaders:
        """All headers of the scenario itself stay."""
        if not self._browser or not self._is_proven((*self._own, *self._browser)):
            return MinimisedHeaders(self._draft)
        needed = self._reduced(self._browser, self._own)
        return MinimisedHeaders(_with_headers(self._draft, (*self._own, *needed)), (), needed)

    def _reduced(self, needed: Sequence[str], kept: Sequence[str] = ()) -> tuple[str, ...]:
        """Without each group of headers without which the scenario is proven; groups are halved. kept: other headers
        that it has."""
        size = len(needed) // 2
        while size:
            position = 0
            while position < len(needed):
                fewer = (*needed[:position], *needed[position + size :])
                if self._is_proven((*kept, *fewer)):
                    needed = fewer
                else:
                    position += size
            size //= 2
        return tuple(needed)

    def _is_proven(self, names: Sequence[str]) -> bool:
        if self._passes >= MOST_PASSES:
            return False
        self._passes += 1
        return all(proof.state == "proven" for proof in one_pass(_with_headers(self._draft, names)))


def _with_headers(draft: ScenarioDraft, names: Sequence[str]) -> ScenarioDraft:
    """The scenario with only these of its static headers, and with these of the browser's."""
    changed = deepcopy(draft)
    for step in changed.steps:
        static = {name for name, _ in _static_headers(step)}
        kept = [(name, text) for name, text in step.headers if name not in static or name.lower() in names]
        known = {name.lower() for name, _ in kept}
        step.headers = kept + [
            (name.title(), merged([value]))
            for name, value in _browser_headers(step) if name in names and name not in known
        ]  # fmt: skip
    return changed


def _static_headers(step: DraftStep) -> Iterator[tuple[str, Text]]:
    for name, text in step.headers:
        is_fixed = not any(isinstance(piece, Variable) for piece in text)
        if is_fixed and name.lower() not in _KEPT:
            yield name, text


def _browser_headers(step: DraftStep) -> Iterator[tuple[str, str]]:
    """Headers of the recording that a browser adds, by their names in small letters. A referrer has no query: a code of
    a login may be in it."""
    for name, value in step.exchange.headers:
        lower = name.lower()
        if not BROWSER_HEADERS.fullmatch(lower) or _CONDITIONS.fullmatch(lower) or is_secret_header(name):
            continue
        yield lower, value.partition("?")[0] if lower == "referer" else value
