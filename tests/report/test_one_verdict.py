"""Whatever happened to a run, every place that tells whether it is valid says the same, and no headline denies it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from plimsoll.experiment.study import judged_trial
from plimsoll.record.cells import CellKey
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.document.run_tables import INVALID, UNSOUND
from plimsoll.report.formats import FORMATS
from plimsoll.report.outputs import text
from plimsoll.report.probe import probe_of
from plimsoll.report.render.run_json import runs_document
from plimsoll.report.render.run_listing import otava_csv, run_list
from plimsoll.report.run_summary import RunSummary
from plimsoll.report.sources import OutputRequest, RunSource, StudySource
from plimsoll.say.headline import headline
from plimsoll.say.validity import _ENDINGS
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.headline import diagnose
from plimsoll.stats.reading import RunReading
from plimsoll.stats.study import Study
from plimsoll.stats.validity import Validity
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.record import Health, Interval
    from plimsoll.store import StoredRun

STARTED = 1_795_176_000.0
SOUND = {"lost_workers": 0, "clock_step_ms": 0.0, "coordinator_silence_s": 0.0}
CLAIM = "The load was the load asked for"
SILENT = {"silence_ms": lambda second: 4900 if 1 <= second <= 5 else 0}
"""What a worker of a run says of itself by second, if its process was stopped."""

CASES: dict[str, tuple[str, dict[str, Any], dict[str, Callable[[int], Any]]]] = {
    "sound": ("finished", {}, {}),
    "stopped": ("stopped", {}, {}),
    "main node lost": ("failed", {}, {}),
    "writer died": ("interrupted", {}, {}),
    "a status of another version": ("paused", {}, {}),
    "going on": ("running", {}, {}),
    "worker lost": ("finished", {"lost_workers": 1}, {}),
    "last worker lost": ("failed", {"lost_workers": 1}, {}),
    "worker replaced": ("finished", {"lost_workers": 1, "replaced": [{"to_second": 4}]}, {}),
    "load taken over": ("finished", {"lost_workers": 1, "load_taken_over": True}, {}),
    "incomplete": ("finished", {"lost_workers": 1, "incomplete": [{"from_second": 1, "to_second": 3}]}, {}),
    "coordinator stood still": ("finished", {"coordinator_silence_s": 2.0}, {}),
    "load cut": ("failed", {"coordinator_silence_s": 9.0, "load_cut_s": 4.0}, {}),
    "continued": ("finished", {"resumed": [{"from_second": 2, "to_second": 4, "incomplete": []}]}, {}),
    "clock set": ("finished", {"clock_step_ms": 300.0}, {}),
    "not all stored": ("finished", {"not_stored": "seconds 3 to 4 (200 requests) were not stored"}, {}),
    "record changed": ("finished", {"recorded": {"exchanges": 1, "reports": 1}}, {}),
    "out of files": ("finished", {}, {"exhausted": lambda second: 1}),
    "stood still": ("finished", {}, SILENT),
    "stood still, then failed": ("failed", {}, SILENT),
    "briefly silent": ("finished", {}, {"silence_ms": lambda second: 700 if second == 2 else 0}),
    "full": ("finished", {}, {"cpu": lambda second: 0.99}),
}
VALID = {"sound", "stopped", "going on", "coordinator stood still", "briefly silent", "full"}


@pytest.fixture(params=CASES)
def case(
    request: pytest.FixtureRequest,
    tmp_path: Any,
    make_interval: Callable[..., Interval],
    make_health: Callable[..., Health],
) -> Iterator[tuple[str, StoredRun]]:
    """Eight seconds of twenty users in the closed model, and what happened to them."""
    status, facts, states = CASES[request.param]
    with Store.open(str(tmp_path / "plimsoll.db")) as store:
        manifest = {"started": STARTED, "model": "closed", "users_kind": "native", "users": 20, "version": "1"}
        writer = store.start_run(Manifest.from_json(manifest))
        for second in range(8):
            health = make_health(second, lag_us=[50] * 40, delay_us=[20] * 40, users=20)
            for name, value in states.items():
                setattr(health, name, value(second))
            writer.commit([make_interval([5.0] * 40, second=second)], [health])
        writer.finish("finished", STARTED + 8, facts=RunFacts.from_json({**SOUND, **facts}))
        # A store gives these states to runs that are going on, and to those whose writer is gone.
        yield request.param, replace(store.run(writer.id), status=status)


def test_everything_that_says_whether_a_run_is_valid_says_the_same(case: tuple[str, StoredRun]) -> None:
    name, run = case
    source = RunSource.of(run)
    valid = source.assessment.validity.valid
    assert valid == (name in VALID)
    summary = RunSummary.of(run)
    assert json.loads(text(source, "run.json", OutputRequest()))["validity"]["valid"] == valid
    assert runs_document([(run, source.view)])["runs"][0]["valid"] == valid
    assert summary.is_valid == valid
    if run.status != "running":
        assert ("invalid" in run_list([(run, summary)], 200)) == (not valid)
        assert (len(otava_csv([(run, summary)]).splitlines()) == 2) == valid
    junit = ElementTree.fromstring(text(source, "run.junit", OutputRequest()))
    assert (junit.get("errors") == "0") == valid
    assert bool(probe_of(run, [], 20.0, "search").invalid) == (not valid)
    for format in ("tables", "html"):
        assert (INVALID in (shown := text(source, format, OutputRequest())) or UNSOUND in shown) == (not valid)
        assert valid or CLAIM not in shown
    for format in ("hgrm", "hlog"):
        assert ("#[INVALID" in "".join(text(source, format, OutputRequest()))) == (not valid)


def test_a_run_counts_in_a_comparison_only_if_it_is_valid_and_over(case: tuple[str, StoredRun]) -> None:
    name, run = case
    trial = judged_trial(run, RunReading(run), CellKey("a"))
    assert bool(trial.invalid) == (name not in VALID or name == "going on")
    analysis = Analysis(Study("s", (trial,), shape="operations"), (), ())
    found = json.loads(text(StudySource(analysis), "bmf", OutputRequest()))
    assert bool(found) == (not trial.invalid)
    assert RunSource.of(run).is_invalid == bool(trial.invalid)


def test_no_headline_denies_what_the_checks_say(case: tuple[str, StoredRun]) -> None:
    _, run = case
    source = RunSource.of(run)
    validity = source.assessment.validity
    found = headline(diagnose(source.view, run.manifest, run.facts, validity=validity))
    assert (found.generator.tone == "bad") == (not validity.valid)
    assert validity.valid or found.target.title not in ("Healthy", "Nothing conspicuous")
    assert not (validity.valid and found.target.title == "In doubt")
    assert run.status == "finished" or CLAIM not in text(source, "tables", OutputRequest()).splitlines()


def test_each_status_and_each_check_has_a_case() -> None:
    """A new check or status is to be looked at here, too."""
    assert set(_ENDINGS) <= {status for status, _, _ in CASES.values()}
    checked = {"ended", "silence", "workers", "coordinator", "clock", "stored", "exhausted", "cpu"}
    # These have tests of their own, because the load that fails them has another form.
    of_load = {"offered", "dropped", "lag", "delay", "percentiles", "little"}
    from plimsoll.say.headline.generator import TITLES

    assert set(TITLES) == checked | of_load


def test_what_only_concerns_the_record_is_said_so() -> None:
    from plimsoll.report.document.run_tables import validity_title
    from plimsoll.stats.validity.lateness import LagCheck
    from plimsoll.stats.validity.load import DroppedCheck, EndedCheck
    from plimsoll.stats.validity.record import PercentilesCheck, StoredCheck

    kinds = {kind.name: kind for kind in (StoredCheck, DroppedCheck, EndedCheck, LagCheck, PercentilesCheck)}

    def title(*states: tuple[str, Any]) -> str:
        return validity_title(Validity(tuple(kinds[name](state) for name, state in states)))

    assert title(("stored", "failed")) == f"{UNSOUND} (stored)"
    assert title(("stored", "failed"), ("dropped", "failed")) == f"{INVALID} (stored, dropped)"
    assert title(("ended", "unknown")) == "So far the load is the load asked for"
    assert title(("ended", "remark")) == "The load was the load asked for until the run was stopped"
    nothing = ("lag", "n/a"), ("percentiles", "n/a"), ("ended", "ok")
    assert title(*nothing) == "No request shows whether the load was the load asked for"


def test_the_formats_of_runs_that_are_not_looked_at_say_nothing_of_validity() -> None:
    looked_at = {"html", "tables", "run.json", "run.junit", "hgrm", "hlog"}
    with_reasons = {"seconds.csv", "seconds.json", "parquet"}  # of `test_run_formats`
    of_locust = {name for name in FORMATS if name.startswith("locust")}
    dashboards = {"grafana-dashboard", "grafana-dashboard-influxdb"}  # queries; a panel shows the validity
    assert {name for name, each in FORMATS.items() if each.run} == looked_at | with_reasons | of_locust | dashboards
