"""From the words of a command to the files of a scenario."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from plimsoll.errors import UsageError
from plimsoll.plain_text import printable
from plimsoll.sources.correlation.correlating import Correlation
from plimsoll.sources.drafting import draft_of
from plimsoll.sources.locustfile_text import LocustfileText
from plimsoll.sources.plan_text import PlanText
from plimsoll.sources.reading import read_recording, recording_of
from plimsoll.sources.secret_values import hide_secrets
from plimsoll.sources.selection import DEFAULT_RULES, SelectionRules, select
from plimsoll.sources.source_input import GivenVariables, SourceInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.sources.draft import ScenarioDraft
    from plimsoll.sources.exchange import Recording


@dataclass(frozen=True, slots=True)
class ScenarioFiles:
    """The files of a new scenario."""

    text: str
    """The plan or the locustfile."""
    files: dict[str, bytes] = field(default_factory=dict)
    """Contents of the files beside it that it reads, by name."""
    environment: tuple[str, ...] = ()
    """Names of the environment variables from which it reads credentials."""
    notes: tuple[str, ...] = ()
    """What the scenario does not do, although its source says so."""


def make_draft(
    words: Sequence[str], rules: SelectionRules = DEFAULT_RULES, variables: Mapping[str, str] | None = None
) -> ScenarioDraft:
    """The scenario of one or more sources. words: as for `read_recording`; of two recordings of a browser, the second
    one shows which values of the first one differ each time. variables: values of those
    that a source names. Raises UsageError."""
    given = GivenVariables(variables or {})
    recordings = [select(read_recording(word, given), rules) for word in words]
    given.check()
    return _draft(recordings)


def sent_draft(files: Sequence[tuple[str, bytes]], variables: Mapping[str, str]) -> ScenarioDraft:
    """The scenario of a source that a page has sent, or of two recordings of the same flow. files: names and contents.
    Raises UsageError."""
    given = GivenVariables(variables)
    recordings = [
        select(recording_of(SourceInput.sent(name, content, given)), DEFAULT_RULES) for name, content in files
    ]
    given.check()
    if len(recordings) > 1 and (other := next((item for item in recordings if not _has_replies(item)), None)):
        raise UsageError(f"{other.name}: has no replies, so it cannot be compared with another file; drop it alone")
    return _draft(recordings)


def given_variables(texts: Sequence[str]) -> dict[str, str]:
    """The variables in texts as NAME=VALUE. Raises UsageError."""
    pairs = [text.partition("=") for text in texts]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise UsageError(f"--set {name}: valid is --set NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _draft(recordings: list[Recording]) -> ScenarioDraft:
    seen = [recording for recording in recordings if _has_replies(recording)]
    if len(seen) > 2:
        raise UsageError("a scenario is made of one recording, or of two of the same flow; name at most two")
    if len(seen) == len(recordings) == 2 and recordings[0].exchanges == recordings[1].exchanges:
        first, second = (source_name(recording.name) for recording in recordings)
        raise UsageError(f"{first} and {second} are the same recording: record the flow once more, or name one of them")
    other = draft_of(recordings[1]) if len(seen) == len(recordings) == 2 else None
    draft = draft_of(recordings[0] if other else _joined(recordings))
    if seen:
        Correlation(draft, other).run()
    draft.sources = tuple(source_name(recording.name) for recording in recordings)
    hide_secrets(draft)
    return draft


def source_name(path: str) -> str:
    """As a comment of the scenario names a source, on one line of it. Not its folder: the same recording gives the same
    scenario everywhere."""
    return printable(re.split(r"[/\\]", path)[-1]).replace('"', "'")


def _has_replies(recording: Recording) -> bool:
    return any(exchange.reply is not None for exchange in recording.exchanges)


def _joined(recordings: list[Recording]) -> Recording:
    """One recording after the other."""
    first, *others = recordings
    if others and (several := next((recording for recording in recordings if recording.weights), None)):
        raise UsageError(f"{several.name}: has several flows: name it alone, or choose one with --set group=NAME")
    for other in others:
        first = replace(
            first,
            exchanges=(*first.exchanges, *other.exchanges),
            notes=(*first.notes, *other.notes),
            of_browser=first.of_browser or other.of_browser,
            has_placeholders=first.has_placeholders or other.has_placeholders,
            has_cookies=first.has_cookies or other.has_cookies,
            data=first.data | other.data,
        )
    return first


def new_file(path: Path, mode: int = 0o600) -> BinaryIO:
    """A new file in place of one that is there, with this mode: one that others may read would stay so. Raises
    OSError."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, mode), "wb")


def written(draft: ScenarioDraft, stem: str, folder: Path = Path(), *, as_locustfile: bool) -> ScenarioFiles:
    """The files of a scenario. stem: the name of the main file without its suffix. folder: where it will be."""
    own: list[str] = []
    if as_locustfile and any(step.exchange.socket for step in draft.steps):
        steps = [step for step in draft.steps if step.exchange.socket is None]
        if not steps:
            raise UsageError("a locustfile has no WebSockets of a recording: write a plan (plan.toml)")
        own.append(f"{len(draft.steps) - len(steps)} steps of a WebSocket are left out: write a plan (plan.toml)")
        draft = replace(draft, steps=steps)
    text = (LocustfileText if as_locustfile else PlanText)(draft, stem, folder)
    notes = (*draft.notes, *own, *dict.fromkeys(text.notes))
    return ScenarioFiles(text.text, text.files, tuple(text.environment), notes)
