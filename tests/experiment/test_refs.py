from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.experiment.refs import baseline_of
from plimsoll.store import Store


@pytest.fixture
def store(tmp_path, make_interval, make_health):
    with Store.open(str(tmp_path / "plimsoll.db")) as opened:
        yield opened


@pytest.fixture
def stored(store, make_interval, make_health):
    """Puts a run into the store; runs start one after the other."""
    started = iter(range(1_000_000, 2_000_000, 100))

    def put(*, branch="main", status="finished", name="locustfile.py", tags=(), passed=True, requests=True):
        manifest = {"model": "closed", "users": 5, "users_kind": "native", "scenario": {"name": name}, "branch": branch}
        begin = float(next(started))
        writer = store.start_run({**manifest, "started": begin})
        threshold = {"text": "p99 < 1s", "passed": passed, "value": 1.0, "limit": 1.0, "detail": ""}
        intervals = [make_interval([10.0] * 20, second=0)] if requests else []
        writer.commit(intervals, [make_health(0, users=5)])
        writer.finish(status, begin + 1, facts={"thresholds": [threshold]})
        if tags:
            store.labels.of_run(writer.id, tags=list(tags))
        return store.run(writer.id)

    return put


def test_it_is_the_last_good_run_of_a_branch_before(store, stored):
    stored()
    good = stored()
    stored(branch="fix")
    now = stored(branch="fix")
    stored()
    assert baseline_of(store, "main@{last}", now) == good.id


def test_a_tag_does_as_well(store, stored):
    good = stored(branch=None, tags=["nightly"])
    assert baseline_of(store, "nightly@{last}", stored()) == good.id


def test_any_other_ref_is_itself(store, stored):
    assert baseline_of(store, "20261123-1301", stored()) == "20261123-1301"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"status": "stopped"}, "is stopped"),
        ({"passed": False}, "broke a threshold"),
        ({"name": "other.py"}, "ran other.py, not locustfile.py"),
        ({"requests": False}, "made no request"),
    ],
)
def test_what_is_not_good_is_passed_over(store, stored, given, why):
    bad = stored(**given)
    with pytest.raises(UsageError, match=f"no run of main before .* is good: {bad.id} {why}"):
        baseline_of(store, "main@{last}", stored())
    good = store.run("last")
    stored(**given)
    assert baseline_of(store, "main@{last}", stored(branch="fix")) == good.id


def test_a_branch_without_runs(store, stored):
    with pytest.raises(UsageError, match="has no run of branch or tag 'release' before"):
        baseline_of(store, "release@{last}", stored())
