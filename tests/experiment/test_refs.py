from __future__ import annotations

import pytest

from plimsoll.errors import NoBaselineError
from plimsoll.experiment.refs import MOST_EARLIER, good_before, named_last
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store


@pytest.fixture
def store(tmp_path, make_interval, make_health):
    with Store.open(str(tmp_path / "plimsoll.db")) as opened:
        yield opened


@pytest.fixture
def stored(store, make_interval, make_health):
    """Puts a run into the store; runs start one after the other."""
    started = iter(range(1_000_000, 2_000_000, 100))

    def put(*, branch="main", status="finished", name="locustfile.py", tags=(), passed=True, requests=True, users=5):
        manifest = {
            "model": "closed",
            "users": users,
            "users_kind": "native",
            "scenario": {"name": name},
            "branch": branch,
        }
        begin = float(next(started))
        writer = store.start_run(Manifest.from_json({**manifest, "started": begin}))
        threshold = {"text": "p99 < 1s", "passed": passed, "value": 1.0, "limit": 1.0, "detail": ""}
        intervals = [make_interval([10.0] * 20, second=0)] if requests else []
        writer.commit(intervals, [make_health(0, users=5)])
        writer.finish(status, begin + 1, facts=RunFacts.from_json({"thresholds": [threshold]}))
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
    assert good_before(store, "main", now)[0].id == good.id


def test_a_tag_does_as_well(store, stored):
    good = stored(branch=None, tags=["nightly"])
    assert [each.id for each in good_before(store, "nightly", stored())] == [good.id]


def test_any_other_ref_is_none():
    assert named_last("main@{last}") == "main"
    assert named_last("feature/a@b@{last}") == "feature/a@b"
    assert named_last("20261123-1301") is None


def test_the_good_ones_before_it_at_the_same_level_tell_how_runs_scatter(store, stored):
    runs = [stored() for _ in range(3)]
    stored(users=6)
    runs.append(stored())
    now = stored(branch="fix")
    assert [each.id for each in good_before(store, "main", now)] == [each.id for each in reversed(runs)]


def test_they_are_so_many_at_most(store, stored):
    for _ in range(MOST_EARLIER + 2):
        stored()
    assert len(good_before(store, "main", stored())) == MOST_EARLIER


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
    with pytest.raises(NoBaselineError, match=rf"no good earlier run of main: nothing to compare \({bad.id} {why}"):
        good_before(store, "main", stored())
    good = store.run("last")
    stored(**given)
    assert good_before(store, "main", stored(branch="fix"))[0].id == good.id


def test_a_branch_without_runs(store, stored):
    with pytest.raises(NoBaselineError, match=r"^no earlier run of release in .*: nothing to compare$"):
        good_before(store, "release", stored())
