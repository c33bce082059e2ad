from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.experiment.fake_cells import FakeCells, FakeDisplay, interrupted_cell

from plimsoll.errors import StoreError, UsageError
from plimsoll.experiment.order import cells_in_order
from plimsoll.experiment.plan import SessionOptions
from plimsoll.experiment.prepare import prepare
from plimsoll.experiment.session import Session
from plimsoll.experiment.state import kept_file, to_json
from plimsoll.store import Store
from plimsoll.store.cells import CellOutcome


@pytest.fixture
def store(tmp_path):
    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened


@pytest.fixture
def conduct(store):
    """Do as the verb does, with fakes: how it ended, the fake cells, the fake display."""

    def do(spec, *, clock=None, only=(), results=None, **options):
        fake, shown = FakeCells(store, **(results or {})), FakeDisplay()
        prepared = prepare(store, spec, kept_file(spec, "plimsoll experiment"), SessionOptions(only=only, **options))
        session = Session(
            prepared.plan, prepared.file, store.experiments, "/place/runs.db", fake, shown, prepared.pace,
            **({"clock": clock} if clock else {}),
        )  # fmt: skip
        return session.run(only), fake, shown

    return do


def kept(store, **also):
    found = store.experiments.find("trial")
    return found, store.experiments.cells(found.key, **also)


def test_all_cells_are_run_in_their_order_and_kept(store, conduct, make_spec):
    spec = make_spec("a b", users=(5, 10), repeats=2)
    done, fake, shown = conduct(spec)
    labels = [each.label for each in cells_in_order(spec)]
    assert fake.seen == labels
    assert (done.interrupted, done.finished, done.states) == (False, True, {"valid": 8})
    experiment, cells = kept(store)
    assert (experiment.status, experiment.is_running) == ("finished", False)
    assert [each.state for each in cells] == ["valid"] * 8
    assert {store.run(each.run).experiment for each in cells} == {"trial"}
    assert [each[:3] for each in shown.begun] == [(label, place, 8) for place, label in enumerate(labels)]
    assert [each[2] for each in shown.ended] == list(range(1, 9))
    assert "measuring" in shown.texts


def test_cells_have_folders_of_their_own_and_one_in_common_while_the_session_lasts(conduct, make_spec):
    _, fake, _ = conduct(make_spec("a b", repeats=1))
    first, second = fake.folders
    assert first.path != second.path and first.shared == second.shared
    assert first.store == "/place/runs.db"
    assert not first.path.exists() and not first.shared.exists()


def test_what_fails_is_that_cell_and_not_the_experiment(store, conduct, make_spec):
    def broken(_):
        return CellOutcome("failed", "prepare: exit status 1", phases={"prepare": 0.5}, target={"log": ["oh"]})

    done, fake, _ = conduct(make_spec("a b", repeats=2), results={"b": broken})
    assert len(fake.seen) == 4
    assert (done.finished, done.states) == (True, {"valid": 2, "failed": 2})
    _, cells = kept(store)
    failed = [each for each in cells if each.state == "failed"]
    assert {(each.variant, each.reason, each.run, each.target["log"][0]) for each in failed} == {
        ("b", "prepare: exit status 1", None, "oh")
    }


def test_an_interrupt_leaves_the_rest_for_later(store, conduct, make_spec):
    spec = make_spec("a b", repeats=3)
    variants = [each.variant for each in cells_in_order(spec)]
    done, fake, _ = conduct(spec, results={variants[1]: interrupted_cell})
    assert (done.interrupted, done.finished, done.over) == (True, False, 1)
    assert len(fake.seen) == 2
    experiment, cells = kept(store)
    assert (experiment.status, experiment.is_running) == ("open", False)
    assert [each.state for each in cells] == ["valid", *["pending"] * 5]
    superseded = [each for each in kept(store, superseded=True)[1] if each.state == "superseded"]
    assert [(each.number, each.reason) for each in superseded] == [(2, "interrupted")]
    assert superseded[0].run is not None

    done, fake, shown = conduct(spec, resume=True)
    assert fake.seen == [each.label for each in cells_in_order(spec)][1:]
    assert shown.begun[0][1:3] == (1, 6)
    assert (done.finished, done.states) == (True, {"valid": 6})


def test_signals_are_as_before_when_the_session_is_over(conduct, make_spec):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    conduct(make_spec("a", repeats=1), results={"a": interrupted_cell})
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_interrupt_between_cells_is_noticed_before_the_next_one(store, conduct, make_spec, monkeypatch):
    finish = type(store.experiments).finish

    def finish_and_interrupt(*args):
        finish(*args)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(type(store.experiments), "finish", finish_and_interrupt)
    done, fake, _ = conduct(make_spec("a b", repeats=2))
    assert (done.interrupted, done.over, len(fake.seen)) == (True, 1, 1)
    assert [each.state for each in kept(store)[1]] == ["valid", "pending", "pending", "pending"]


def test_a_store_that_fails_ends_the_session_and_the_cell_is_pending(store, conduct, make_spec):
    def full(_):
        raise StoreError("store: cannot keep it: disk full")

    with pytest.raises(StoreError, match="disk full"):
        conduct(make_spec("a b", repeats=1), results={"a": full, "b": full})
    experiment, cells = kept(store)
    assert (experiment.status, experiment.is_running) == ("open", False)
    assert [each.state for each in cells] == ["pending", "pending"]


def test_only_some_cells_now_and_the_others_later(store, conduct, make_spec):
    spec = make_spec("a b", users=(5, 10), repeats=2)
    done, fake, _ = conduct(spec, only=("b/10",))
    assert fake.seen == [each.label for each in cells_in_order(spec) if (each.variant, each.level.value) == ("b", 10)]
    assert not done.finished and not done.interrupted and kept(store)[0].status == "open"
    done, fake, _ = conduct(spec, resume=True)
    assert len(fake.seen) == 6 and done.finished


def test_more_repeats_of_what_is_finished(conduct, make_spec):
    conduct(make_spec("a b", repeats=2))
    done, fake, _ = conduct(make_spec("a b", repeats=3), resume=True)
    assert [each.partition("repeat ")[2] for each in fake.seen] == ["3", "3"]
    assert done.states == {"valid": 6}


def test_bad_cells_once_more(store, conduct, make_spec):
    def invalid(_):
        return CellOutcome("invalid", "the generator was the limit")

    spec = make_spec("a b", repeats=2)
    conduct(spec, results={"b": invalid})
    done, fake, _ = conduct(spec, resume=True, again=True)
    assert [each[:1] for each in fake.seen] == ["b", "b"]
    assert done.states == {"valid": 4}
    assert sum(each.state == "superseded" for each in kept(store, superseded=True)[1]) == 2


def test_begun_anew(store, conduct, make_spec):
    conduct(make_spec("a b", repeats=2))
    done, fake, _ = conduct(make_spec("a c", repeats=1), fresh=True)
    assert len(fake.seen) == 2 and done.states == {"valid": 2}
    assert sum(each.state == "superseded" for each in kept(store, superseded=True)[1]) == 4


def test_the_time_left_follows_from_the_cells_that_were_measured(conduct, make_spec):
    now = iter(range(0, 100_000, 50))  # 50 s from begin to end of each cell, whatever the settings say
    _, _, shown = conduct(make_spec("a b", repeats=2), clock=lambda: next(now))
    assert [each[3] for each in shown.begun[1:]] == [150.0, 100.0, 50.0]
    # Before any was measured: 2 s of warm-up, 10 s of run, 1 s of cool-down, 2 s for the generator.
    assert shown.begun[0][3] == 4 * 15.0


KILLED = """
import json, os, signal, sys
sys.path[:0] = [{root!r}]
from plimsoll.experiment.plan import SessionOptions
from plimsoll.experiment.prepare import prepare
from plimsoll.experiment.session import Session
from plimsoll.experiment.state import from_json, kept_file
from plimsoll.store import Store
from tests.experiment.fake_cells import FakeCells, FakeDisplay
spec = from_json(json.loads(sys.argv[1]))
with Store.open(sys.argv[2]) as store:
    fake = FakeCells(store)
    def killed(cell, *others):
        result = fake(cell, *others)
        if len(fake.seen) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    prepared = prepare(store, spec, kept_file(spec, ""), SessionOptions())
    Session(prepared.plan, prepared.file, store.experiments, None, killed, FakeDisplay(), prepared.pace).run()
"""


def test_after_a_kill_it_goes_on_where_it_was(store, conduct, make_spec, tmp_path):
    spec = make_spec("a b", repeats=3)
    script = KILLED.format(root=str(Path(__file__).parents[2]))
    command = [sys.executable, "-c", script, json.dumps(to_json(spec)), str(tmp_path / "runs.db")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    experiment, cells = kept(store)
    assert (experiment.status, experiment.is_running) == ("open", False)
    assert [each.state for each in cells] == ["valid", "valid", "running", "pending", "pending", "pending"]
    with pytest.raises(UsageError, match=r"was left after 2 of 6 cells .*--resume goes on with it, --fresh"):
        conduct(spec)
    done, fake, _ = conduct(spec, resume=True)
    assert fake.seen == [each.label for each in cells_in_order(spec)][2:]
    assert done.states == {"valid": 6}
    (superseded,) = (each for each in kept(store, superseded=True)[1] if each.state == "superseded")
    assert superseded.number == 3 and superseded.run not in (None, *(each.run for each in kept(store)[1]))
