"""Results of tools for language models, in the rows that Plimsoll records of generated texts (docs/measuring.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.importers.samples import Samples
from plimsoll.stats.study import TOTAL, Measured

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Precision, Study

FIRST_EVENT = ("first event", "all")
FIRST_TOKEN = ("first token", "all")
CHUNK = ("each chunk", "all")
TOKEN = ("each token", "all")
GOOD = ("good request", "all")
REQUEST = ("", "all")
"""These files name no endpoints."""

MOST_TOKENS = 1_000_000
"""Of one text."""


class Texts:
    """Collects requests and their texts, one by one. Times in ms, moments in seconds of any clock."""

    def __init__(self, source: ResultFile) -> None:
        self._source = source
        self._samples = Samples(source)

    def request(self, line: int | None, end: float, ms: float | None, **failure: Any) -> None:
        """A request, with or without a text. failure: as in `Samples.add`."""
        self._samples.add(line, REQUEST, end, ms, **failure)

    def text(self, line: int | None, start: float, first: float, *, row: tuple[str, str] = FIRST_TOKEN) -> None:
        """The first token, `first` after the start; or in `row`, if that is what the tool measures."""
        self._samples.add(line, row, start + first / 1000, first)

    def chunks(self, line: int | None, start: float, gaps: Iterable[float]) -> None:
        """start: of the first chunk. gaps: from each chunk to the next."""
        self._samples.add(line, CHUNK, start, None)
        for gap in gaps:
            start += gap / 1000
            self._samples.add(line, CHUNK, start, gap)

    def tokens(self, line: int | None, end: float, count: int, each: float | None) -> None:
        """each: time per token after the first one. Raises UsageError for an impossible count."""
        if not 0 <= count <= MOST_TOKENS:
            raise self._source.error(line, f"a text of {count} tokens cannot be")
        if count:
            self._samples.add(line, TOKEN, end, each, untimed=count - 1)

    def study(self, options: ImportOptions, precision: Precision, good: Measured | None, **found: Any) -> Study:
        """The run of all of them. good: the row of good requests. Raises UsageError without requests."""
        study = self._samples.study(options, precision, **found)
        (trial,) = study.trials
        if good is None:
            return study
        return replace(study, trials=(replace(trial, endpoints=(*trial.endpoints, good)),))


def rows(requests: Measured, others: Iterable[Measured | None]) -> dict[str, Any]:
    """`endpoints` and `total` of a trial of which only sums are known."""
    known = (each for each in others if each is not None)
    return {"endpoints": (replace_key(requests, REQUEST), *known), "total": replace_key(requests, TOTAL)}


def good_requests(count: float | None, seconds: float | None) -> Measured | None:
    """The row of so many good requests; None: the file does not say."""
    if count is None:
        return None
    return Measured(*GOOD, requests=round(count), rate=count / seconds if seconds else None)


def replace_key(measured: Measured, key: tuple[str, str]) -> Measured:
    return replace(measured, method=key[0], name=key[1])
