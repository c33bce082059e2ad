"""Chooses the reader of a source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.doors import members
from plimsoll.errors import UsageError
from plimsoll.sources import curl, har, http_file, openapi
from plimsoll.sources.collections import bruno, insomnia, jmeter, postman
from plimsoll.sources.exchange import Recording
from plimsoll.sources.source_input import SourceInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

GROUP = "plimsoll.sources"
"""The entry-point group through which other packages add rows."""
MOST_EXCHANGES = 20_000
"""Requests of one source; more are refused."""


@dataclass(frozen=True, slots=True)
class ScenarioSource:
    """A format that scenarios come from."""

    name: str
    """The common name of the format."""
    sniff: Callable[[SourceInput], bool]
    """Whether a text has this format, by its beginning and its name. It never raises."""
    read: Callable[[SourceInput], Recording]
    """Raises UsageError, which names the file and the line."""


SOURCES: Mapping[str, ScenarioSource] = {
    "har": ScenarioSource("HAR", har.is_har, har.read_har),
    "postman": ScenarioSource("Postman collection", postman.is_postman, postman.read_postman),
    "insomnia": ScenarioSource("Insomnia export", insomnia.is_insomnia, insomnia.read_insomnia),
    "bruno": ScenarioSource("Bruno collection", bruno.is_bruno, bruno.read_bruno),
    "jmeter": ScenarioSource("JMeter test plan", jmeter.is_jmeter, jmeter.read_jmeter),
    "openapi": ScenarioSource("OpenAPI", openapi.is_openapi, openapi.read_openapi),
    "http": ScenarioSource(".http file", http_file.is_http_file, http_file.read_http_file),
    "curl": ScenarioSource("curl commands", curl.is_curl, curl.read_curl),
}
"""By name, in the order in which they are tried; those of other packages come before."""


def all_sources() -> tuple[ScenarioSource, ...]:
    """The rows of other packages and our own."""
    rows = members(GROUP, ScenarioSource, SOURCES)
    return (*(row for name, row in rows.items() if name not in SOURCES), *SOURCES.values())


def read_recording(word: str, variables: Mapping[str, str] | None = None) -> Recording:
    """The recording in a source. word: a path, "-" for the standard input, or a command.
    variables: values of those that the source names.

    Raises UsageError for what cannot be read, for an unknown format, and for a source without requests.
    """
    given = {} if variables is None else variables
    return recording_of(bruno.collection_folder(word, given) or SourceInput.of(word, given))


def recording_of(source: SourceInput) -> Recording:
    """The recording in the text of a source. Raises UsageError as `read_recording`."""
    if not source.text.strip():
        raise UsageError(f"{source.name}: is empty")
    rows = all_sources()
    row = next((row for row in rows if row.sniff(source)), None)
    if row is None:
        if "_postman_variable_scope" in source.text:
            hint = "name the collection, and give the values that it needs with --set NAME=VALUE"
            raise UsageError(f"{source.name}: is an environment of Postman, which has no requests: {hint}")
        known = ", ".join(row.name for row in rows)
        logs = "and access logs, for some of which plimsoll scenario needs --log-format"
        raise UsageError(f"{source.name}: its format is unknown; known are {known}, {logs}")
    recording = row.read(source)
    if not recording.exchanges:
        raise UsageError(f"{source.name}: has no requests that a scenario could be made of")
    if len(recording.exchanges) > MOST_EXCHANGES:
        raise UsageError(f"{source.name}: has more than {MOST_EXCHANGES:,} requests; record fewer pages")
    return recording
