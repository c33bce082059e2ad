"""Reports as documents for the page, made from the store. Those of finished runs and experiments are cached."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from plimsoll.errors import FieldError, NotNowError, UsageError
from plimsoll.server.answers import answer, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request

    from plimsoll.report.document.blocks import ReportDocument
    from plimsoll.report.sources import RunSource, StudySource
    from plimsoll.server.history.open_store import OpenStore
    from plimsoll.stats.analysis import Analysis
    from plimsoll.store import Store, StoredRun

MOST_REFS = 20
MOST_BYTES = 64 * 2**20
"""The total size of cached pages."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Something in the store that has a page."""

    ref: str
    """The ref that requests it."""
    state: tuple[Any, ...]
    """The page is unchanged while this is unchanged."""
    is_growing: bool
    run: StoredRun | None = None
    """None: an experiment or an imported study."""


class Pages:
    """Answers GET /api/page: reports as documents."""

    def __init__(self, place: OpenStore) -> None:
        self._place = place
        self._kept = PageCache()

    def page(self, request: Request) -> Response:
        refs = refs_of(request)
        store = self._place.get()
        wanted = [wanted_of(store, ref) for ref in refs]
        if any(each.is_growing for each in wanted):
            return answer(_document(store, wanted))
        # The noise of the bench comes from all A/A experiments.
        key = tuple((each.ref, each.state) for each in wanted), *_bench(store, wanted)
        text = self._kept.get(key, lambda: to_json(_document(store, wanted)))
        return Response(text, headers={"Cache-Control": "no-store"}, media_type="application/json")


def refs_of(request: Request) -> list[str]:
    refs = [ref for ref in request.query_params.getlist("ref") if ref]
    if not 1 <= len(refs) <= MOST_REFS:
        raise FieldError(f"?ref=… names what the page is about, once to {MOST_REFS} times", "ref")
    return refs


def wanted_of(store: Store, ref: str) -> PageRequest:
    """In the search order of `plimsoll report`. Raises RefError if nothing is found, and StoreError."""
    experiment = store.experiments.find(ref)
    if experiment is not None:
        cells = store.experiments.cells(experiment.key)
        state = tuple((each.key, each.state, each.ended) for each in cells)
        return PageRequest(experiment.name, ("experiment", *state), experiment.is_running)
    kept = store.imports.find(ref)
    if kept is not None:
        return PageRequest(ref, ("study", kept.id), False)
    run = store.run(ref)
    return PageRequest(run.id, ("run", run.status, run.written), run.status == "running", run)


def _bench(store: Store, wanted: Sequence[PageRequest]) -> tuple[Any, ...]:
    if all(each.run is not None for each in wanted):
        return ()
    kept = store.experiments
    bench = (each for each in kept.all() if each.file is not None and each.file.is_aa)
    return tuple((each.key, each.created, *sorted(kept.states(each.key).items())) for each in bench)


def _document(store: Store, wanted: Sequence[PageRequest]) -> ReportDocument:
    from plimsoll.report.document.study import document_of

    refs = tuple(each.ref for each in wanted)
    growing = any(each.is_growing for each in wanted)
    return replace(document_of(source_of(store, wanted)), refs=refs, is_growing=growing)


def source_of(store: Store, wanted: Sequence[PageRequest]) -> RunSource | StudySource:
    """The source of the document. Raises as `analysis_of`."""
    from plimsoll.report.sources import RunSource, StudySource

    if len(wanted) == 1 and wanted[0].run is not None:
        return RunSource.of(wanted[0].run)
    return StudySource(analysis_of(store, [each.ref for each in wanted]))


def analysis_of(store: Store, refs: Sequence[str]) -> Analysis:
    """As in `plimsoll report`. Raises NotNowError if nothing is measured yet, FieldError for refs that cannot be
    compared; StoreError."""
    from plimsoll.experiment.refs import study_in_store
    from plimsoll.stats.analysis import analyse

    try:
        return analyse(study_in_store(store, refs))
    except UsageError as error:
        if len(refs) > 1:
            raise FieldError(str(error), "ref") from error
        raise NotNowError(str(error)) from error


class PageCache:
    """A cache of expensive texts; evicts the least recently used."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._texts: OrderedDict[Any, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._making: dict[Any, threading.Lock] = {}

    def get(self, key: Any, make: Callable[[], bytes]) -> bytes:
        """Concurrent calls with the same key make the text once."""
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            text = self._find(key)
            if text is None:
                try:
                    text = make()
                    self._keep(key, text)
                finally:
                    with self._lock:
                        self._making.pop(key, None)
        return text

    def _find(self, key: Any) -> bytes | None:
        with self._lock:
            text = self._texts.get(key)
            if text is not None:
                self._texts.move_to_end(key)
                self._making.pop(key, None)
            return text

    def _keep(self, key: Any, text: bytes) -> None:
        with self._lock:
            self._texts[key] = text
            self._bytes += len(text)
            while self._bytes > self._most and self._texts:
                _, old = self._texts.popitem(last=False)
                self._bytes -= len(old)
