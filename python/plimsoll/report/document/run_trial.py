"""A run on its own as statistics see it, so that it has the findings and the charts of a study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from plimsoll.record.cells import CellKey
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.load import load_in_short
from plimsoll.say.validity import check_texts
from plimsoll.stats.kinds import level_of_run
from plimsoll.stats.study import Course, Study, Trial
from plimsoll.stats.trial import trial_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plimsoll.report.assessment import Assessment
    from plimsoll.report.sources import Described
    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.reading import RunReading
    from plimsoll.stats.seconds import Key
    from plimsoll.stats.view import EndpointView, RunView


def trial_of_run(
    view: RunView, run: Described | None, assessment: Assessment, reading: RunReading | None = None
) -> Trial:
    """From what was read, with percentiles of each second; from the view alone if nothing was."""
    manifest = run.manifest if run is not None else Manifest()
    return trial_of(
        run or cast("Any", SimpleNamespace(id="memory", status="", manifest=manifest, facts=RunFacts(), notes=[])),
        reading or ViewReading(view),
        CellKey(load_in_short(manifest) or "run", level_of_run(manifest)),
        invalid=tuple(check_texts(assessment.validity.unfit)),
    )


def findings_of_run(trial: Trial) -> tuple[Finding, ...]:
    """One run is compared with nothing, but there may be something to say of it."""
    # Only here: most commands need no findings.
    from plimsoll.stats.findings import find

    return tuple(find(study_of_run("", trial)))


def study_of_run(title: str, trial: Trial) -> Study:
    """The document says in its own words that a run is invalid, and shows its numbers all the same."""
    return Study(title, (replace(trial, invalid=()),), shape="operations")


@dataclass(frozen=True)
class ViewReading:
    """A run of which there is only the view: it has counts of each second, and no times."""

    view: RunView
    observed = ()
    generator = None
    traffic = None

    @property
    def users_by_second(self) -> NDArray[np.float64] | None:
        users = self.view.generator.users_by_second()
        seconds = range(self.view.last_second + 1)
        return np.array([float(users.get(second, 0)) for second in seconds]) if users else None

    @cached_property
    def _endpoints(self) -> dict[Key, EndpointView]:
        return {(endpoint.method, endpoint.name): endpoint for endpoint in self.view.endpoints}

    def course(self, key: Key) -> Course:
        endpoint = self._endpoints.get(key, self.view.total)
        requests, failures = (
            np.array(counts, dtype=np.int64) for counts in (endpoint.requests_by_second, endpoint.failures_by_second)
        )
        unknown = np.full(len(requests), np.nan)
        measured = slice(self.view.warmup, None)
        return Course(requests, failures, unknown, unknown, unknown, (None,) * len(requests), measured)
