from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.errors import UsageError
from plimsoll.experiment.order import cells_in_order
from plimsoll.experiment.plan import SessionOptions, chosen, make_plan
from plimsoll.experiment.state import kept_file
from plimsoll.stats.study import Level
from plimsoll.store.cells import StoredCell, StoredExperiment


def stored_as(spec, *states, running=False, finished=False):
    """What the store has of it: these states of its first cells, the others are pending."""
    cells = cells_in_order(spec)
    all_states = [*states, *["pending"] * (len(cells) - len(states))]
    rows = [
        StoredCell(
            key=cell.number,
            number=cell.number,
            repeat=cell.repeat,
            variant=cell.variant,
            level=cell.level,
            operation=cell.operation,
            seed=cell.seed,
            state=state,
        )
        for cell, state in zip(cells, all_states, strict=True)
    ]
    status = "finished" if finished else "open"
    return StoredExperiment(1, spec.name, 1e9, status, 1e9 if finished else None, kept_file(spec, ""), running), rows


def plan(spec, there=(None, ()), **options):
    return make_plan(spec, kept_file(spec, ""), *there, SessionOptions(**options))


def test_a_new_experiment(make_spec):
    spec = make_spec("a b", repeats=2)
    found = plan(spec)
    assert (found.is_new, found.cells, found.later, found.there, found.total) == (True, cells_in_order(spec), 0, 0, 4)


def test_going_on(make_spec):
    spec = make_spec("a b", repeats=3)
    there = stored_as(spec, "valid", "failed", "running")
    found = plan(spec, there, resume=True)
    assert not found.is_new
    assert [each.number for each in found.cells] == [3, 4, 5, 6]
    assert (found.later, found.there, found.total, found.again) == (0, 2, 6, ())
    again = plan(spec, there, resume=True, again=True)
    assert [each.number for each in again.cells] == [2, 3, 4, 5, 6]
    assert set(again.again) == {"invalid", "failed"}
    only = plan(spec, there, resume=True, only=("a",))
    assert {each.variant for each in only.cells} == {"a"}
    assert (only.there, only.later + len(only.cells)) == (2, 4)


def test_more_repeats(make_spec):
    spec = make_spec("a b", repeats=2)
    there = stored_as(spec, *["valid"] * 4, finished=True)
    found = plan(replace(spec, repeats=3), there, resume=True)
    expected = [(each.number, each.repeat) for each in found.cells]
    assert [(each.number, each.repeat) for each in found.added] == [(5, 3), (6, 3)] == expected


def test_fewer_repeats_leave_the_others_for_later(make_spec):
    spec = make_spec("a b", repeats=3)
    there = stored_as(spec, "valid", "valid")
    found = plan(replace(spec, repeats=2), there, resume=True)
    assert [each.number for each in found.cells] == [3, 4] and found.later == 2
    with pytest.raises(UsageError, match="what is left of experiment trial is of repeats after the first 1"):
        plan(replace(spec, repeats=1), there, resume=True)


def test_anew(make_spec):
    spec = make_spec("a b", repeats=2)
    found = plan(replace(spec, seed=9), stored_as(spec, "valid"), fresh=True)
    assert found.is_new and len(found.cells) == 4 and found.there == 0


def test_what_is_in_the_way(make_spec):
    spec = make_spec("a b", repeats=2)
    with pytest.raises(UsageError, match="no experiment trial to go on with; leave --resume out"):
        plan(spec, resume=True)
    with pytest.raises(UsageError, match=r"was left after 1 of 4 cells .*; --resume goes on with it, --fresh starts"):
        plan(spec, stored_as(spec, "valid"))
    done = stored_as(spec, "valid", "invalid", "failed", "valid", finished=True)
    for options in ({}, {"resume": True}):
        with pytest.raises(UsageError) as error:
            plan(spec, done, **options)
        for part in (
            "experiment trial is finished (4 cells, ",
            "`plimsoll report trial` shows it",
            "--resume --again takes the 2 cells that are invalid or failed once more",
            "--resume --repeats N adds repeats",
        ):
            assert part in str(error.value)
    with pytest.raises(UsageError, match="is being run by another process"):
        plan(spec, stored_as(spec, "valid", running=True), resume=True)


def test_a_file_that_has_changed(make_spec):
    spec = make_spec("a b", repeats=2)
    for options in ({}, {"resume": True}):
        with pytest.raises(UsageError) as error:
            plan(replace(spec, seed=9), stored_as(spec, "valid"), **options)
        first, change, last = str(error.value).splitlines()
        assert first.startswith("/nowhere/experiment.toml is no longer what experiment trial was begun with (20")
        assert change == "  seed: 1 → 9"
        assert "--fresh: that starts over, and what was run (1 cell) no longer counts" in last
    many = replace(spec, levels=tuple(Level("users", float(each)) for each in range(5, 20)))
    with pytest.raises(UsageError, match=r"\n  and 18 more\n"):
        plan(many, stored_as(spec, "valid"))


def test_cells_by_name(make_spec):
    spec = make_spec("a b", users=(5, 10), operations=("read", "write"), repeats=1)
    cells = cells_in_order(spec)

    def names(*only: str) -> set[tuple[str, float, str]]:
        return {(each.variant, each.level.value, each.operation) for each in chosen(cells, only)}

    assert len(names()) == 8
    assert names("b") == {("b", level, operation) for level in (5, 10) for operation in ("read", "write")}
    assert names("b/10") == {("b", 10, "read"), ("b", 10, "write")}
    assert names("b/10/read", "a/5/write") == {("b", 10, "read"), ("a", 5, "write")}
    rates = cells_in_order(replace(spec, levels=(Level("/s", 300.0), Level("/s", 0.5))))
    assert len(chosen(rates, ["a/300"])) == len(chosen(rates, ["a/300/s"])) == len(chosen(rates, ["a/0.5/s"])) == 2
    unlevelled = cells_in_order(replace(spec, levels=(None,)))
    assert len(chosen(unlevelled, ["a/read"])) == 1
    with pytest.raises(UsageError, match=r"--only b/100: no cell .* is called so; did you mean b/10\?"):
        chosen(cells, ["b/100"])
    with pytest.raises(UsageError, match="--only zzz: no cell that is left to run is called so; there are "):
        chosen(cells, ["zzz"])
