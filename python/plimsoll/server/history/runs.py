"""The list of stored runs, and their labels."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

from starlette.concurrency import run_in_threadpool

from plimsoll.errors import FieldError
from plimsoll.report.load import load_in_short, run_title
from plimsoll.report.run_summary import RunSummary, rules
from plimsoll.server.answers import answer, read
from plimsoll.server.messages import Label, RunItem, RunList, Summary
from plimsoll.stats.kinds import kind_of, source_of
from plimsoll.store.cells import run_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from plimsoll.server.history.open_store import OpenStore
    from plimsoll.server.messages import Status
    from plimsoll.store import Store, StoredRun

PAGE = 50
MOST_LISTED = 500
_FURTHEST = 10**8

_summarising = threading.Lock()
"""So that concurrent viewers do not read a run twice."""


class Runs:
    """GET /api/runs, GET and PATCH /api/runs/{id}."""

    def __init__(self, place: OpenStore) -> None:
        self._place = place

    def list(self, request: Request) -> Response:
        limit = _whole_number(request, "limit", PAGE, MOST_LISTED)
        offset = _whole_number(request, "offset", 0, _FURTHEST)
        search, tag = request.query_params.get("search", ""), request.query_params.get("tag", "")
        store = self._place.get_if_there()
        if store is None:
            return answer(RunList((), 0, ()))
        listed, total = store.part(limit, offset, search=search, tag=tag)
        summaries = summaries_of(store, listed)
        items = tuple(item(run, summaries.get(run.id)) for run in listed)
        return answer(RunList(items, total, tuple(store.labels.tags())))

    def one(self, request: Request) -> Response:
        store = self._place.get()
        run = store.run(request.path_params["id"])
        return answer(item(run, summaries_of(store, [run]).get(run.id)))

    async def label(self, request: Request) -> Response:
        label = await read(request, Label)
        return await run_in_threadpool(self._label, request, label)

    def _label(self, request: Request, label: Label) -> Response:
        store = self._place.get()
        run = store.run(request.path_params["id"])
        store.labels.of_run(run.id, tags=label.tags, note=label.note)
        return self.one(request)


def summaries_of(store: Store, runs: Sequence[StoredRun]) -> dict[str, RunSummary]:
    """By id, for runs that are over and readable."""
    with _summarising:
        found = store.summaries.of(runs, lambda run: RunSummary.of(run).to_json(), rules())
    return {run: RunSummary.from_json(plain) for run, plain in found.items()}


def item(run: StoredRun, summary: RunSummary | None) -> RunItem:
    manifest = run.manifest
    load = load_in_short(manifest)
    return RunItem(
        id=run.id,
        name=manifest.name,
        title=run_title(manifest.name, load, manifest.host or ""),
        status=cast("Status", run.status),
        started=run.started,
        ended=run.ended,
        host=manifest.host or "",
        source=source_of(manifest),
        load=load,
        experiment=run.experiment or "",
        commit=manifest.commit,
        tags=run.tags,
        note=run.note or run.damage,
        summary=short(summary) if summary is not None else None,
        series="" if is_of_cell(run) else kind_of(manifest).key,
    )


def is_of_cell(run: StoredRun) -> bool:
    """Cells of an experiment are in no series: their runs differ in what the experiment compares."""
    return run.experiment is not None and run.manifest.name.startswith(run_name(run.experiment, ""))


def short(summary: RunSummary) -> Summary:
    times = summary.times
    found = {name: summary.time(name) for name in ("p50", "p95", "p99", "max")}
    return Summary(
        requests=summary.requests,
        failures=summary.failures,
        unanswered=summary.unanswered,
        rate=summary.rate,
        p50=times["p50"],
        p95=times["p95"],
        p99=times["p99"],
        max=times["max"],
        duration=summary.duration,
        is_valid=summary.is_valid,
        reasons=summary.reasons,
        at_least=summary.at_least,
        shares={name: time.share for name, time in found.items() if time is not None and not time.is_clean},
    )


def _whole_number(request: Request, name: str, default: int, most: int) -> int:
    """A parameter from 0 to `most`. Raises FieldError."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) > most:
        raise FieldError(f"{name} is a whole number from 0 to {most}, not {text[:20]!r}", name)
    return int(text)
