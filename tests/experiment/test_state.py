from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.errors import UsageError
from plimsoll.experiment.spec import Compare, Hook, Hooks, Scenario, Target, TargetFact, Variant
from plimsoll.experiment.state import as_aa, changes, digest, from_json, kept_file, to_json
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Level


@pytest.fixture
def spec(make_spec, tmp_path):
    (tmp_path / "locustfile.py").write_text("# one")
    target = Target(
        "http://127.0.0.1:{port}", ("serve", "{port}"), env={"A": "1"}, data=(TargetFact("rows", "/_rows"),), git="v1"
    )
    return make_spec(
        file=str(tmp_path / "experiment.toml"),
        scenarios=(Scenario("read", locustfile="locustfile.py", run_time=5.0, classes=("A", "B")),),
        variants=(
            Variant("old", target),
            Variant("new", replace(target, git="v2"), "v2", Hooks(collect=(Hook("explain", ("psql",)),))),
        ),
        levels=(Level("/s", 100.0), Level("/s", 200.0)),
        compare=Compare(primary=(Metric.parse("p99 of GET /"),)),
        budget=60.0,
    )


def test_what_is_kept_becomes_the_same_experiment_again(spec):
    assert from_json(to_json(spec)) == spec


def test_what_cannot_be_read_is_said_in_words():
    with pytest.raises(UsageError, match="another version"):
        from_json({"name": "x"})


def test_nothing_has_changed(spec):
    assert changes(kept_file(spec, ""), kept_file(spec, "another command")) == []


def test_what_does_not_change_what_is_measured_may_change(spec):
    variants = (spec.variants[0], replace(spec.variants[1], changes="said better"))
    other = replace(spec, question="?", shape="rates", repeats=9, budget=None, file=spec.file, variants=variants)
    assert digest(other) == digest(spec)
    assert changes(kept_file(spec, ""), kept_file(other, "")) == []


def test_what_has_changed_is_told_by_field(spec):
    old, new = spec.variants
    other = replace(
        spec,
        seed=2,
        levels=(*spec.levels, Level("/s", 300.0)),
        variants=(old, replace(new, target=replace(new.target, start=("serve", "--fast"), env={"A": "1", "B": "2"}))),
        compare=Compare(primary=(Metric.parse("p95 of GET /"),)),
    )
    assert changes(kept_file(spec, ""), kept_file(other, "")) == [
        'variants[1].target.start: ["serve", "{port}"] → ["serve", "--fast"]',
        "seed: 1 → 2",
        "compare.primary[0].quantile: 0.99 → 0.95",
        'variants[1].target.env.B: (not there) → "2"',
        'levels[2].unit: (not there) → "/s"',
        "levels[2].value: (not there) → 300.0",
    ]


def test_a_locustfile_that_has_changed_is_told(spec, tmp_path):
    before = kept_file(spec, "")
    (tmp_path / "locustfile.py").write_text("# two")
    (line,) = changes(before, kept_file(spec, ""))
    assert line.startswith("locustfile.py has changed (")


def test_a_password_that_changed_is_not_told_but_that_it_did(spec):
    def with_password(password: str):
        target = replace(spec.variants[0].target, postgres=f"postgresql://me:{password}@localhost/db")
        return kept_file(replace(spec, variants=(replace(spec.variants[0], target=target),)), "")

    before, after = with_password("old"), with_password("new")
    # What the store hands back has no password.
    kept = replace(before, spec={**before.spec, "variants": [_masked(each) for each in before.spec["variants"]]})
    (line,) = changes(kept, after)
    assert "password" in line and "new" not in line.split()


def _masked(variant):
    return {**variant, "target": {**variant["target"], "postgres": "postgresql://me:***@localhost/db"}}


def test_a_locustfile_that_is_gone_is_told(spec, tmp_path):
    (tmp_path / "locustfile.py").unlink()
    with pytest.raises(UsageError, match=r"cannot read .*locustfile.py: No such file"):
        kept_file(spec, "")


def test_a_variant_against_itself(spec):
    aa = as_aa(spec, "new")
    first, second = aa.variants
    assert (aa.name, aa.is_aa) == ("trial A-A new", True)
    assert [each.name for each in aa.variants] == ["new", "new again"]
    assert first.build == second.build == "new"
    expected = (spec.variants[1].target, spec.variants[1].hooks)
    assert (first.target, first.hooks) == (second.target, second.hooks) == expected
    with pytest.raises(UsageError, match="no variant 'nex'; there are old, new"):
        as_aa(spec, "nex")
