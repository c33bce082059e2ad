"""What the analysis has to conclude from four published reports, and from nothing but their text."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from labs.published.report import read

from plimsoll.record.cells import CellKey
from plimsoll.report import outputs
from plimsoll.report.sources import OutputRequest, StudySource
from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.analysis import analyse

if TYPE_CHECKING:
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.findings.finding import Finding

PUBLISHED = Path(__file__).parents[2] / "published"
LADDER = "000_a0b59a2107bb9b6e.txt"
KEYS = "001_4fe40582dde3298e.txt"
TODOS = "003_ced28001632ad17d.txt"
TUNNELS = "004_b5afb18333865905.txt"


@cache
def analysis(name: str) -> Analysis:
    return analyse(read(PUBLISHED / name))


def findings(name: str, rule: str, **where: object) -> list[Finding]:
    """where: fields of Where, as text where they are levels or endpoints."""
    return [
        each
        for each in analysis(name).findings
        if each.id == rule and all(_plain(getattr(each.where, field)) == value for field, value in where.items())
    ]


def finding(name: str, rule: str, **where: object) -> Finding:
    (found,) = findings(name, rule, **where)
    return found


def number(of: Finding, name: str) -> float:
    value = evidence_of(of)[name]
    assert isinstance(value, int | float)
    return float(value)


def comparisons(name: str, **fields: object) -> list[Comparison]:
    return [
        each
        for each in analysis(name).comparisons
        if all(_plain(getattr(each, field)) == value for field, value in fields.items())
    ]


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return " ".join(str(each) for each in value).strip()
    return value if value is None else str(value)


# A key manager: four operations, 10, 30 and 50 users for 180 s who do not pause.

UPLOAD = "POST /cckm/google/upload-key"
GET = "GET /cckm/google/keys/[id]"
PATCH = "PATCH /cckm/google/keys/[id]"
VERSIONS = "GET /cckm/google/keys/[id]/versions"
DESTROY = "POST /cckm/google/keys/[id]/versions/[versionID]/schedule-destroy"
DELETE = f"{VERSIONS} + {DESTROY}"


@pytest.mark.parametrize(
    ("operation", "endpoint", "busy", "latency", "throughput"),
    [
        (UPLOAD, UPLOAD, (0.978, 0.907, 0.855), 0.929, -0.010),
        (GET, GET, (0.965, 0.930, 0.889), 1.052, -0.100),
        (PATCH, PATCH, (0.961, 0.928, 0.865), 1.058, -0.118),
        (DELETE, VERSIONS, (0.980, 0.915, 0.879), 1.104, -0.085),
    ],
)
def test_keys_all_four_operations_are_serial(
    operation: str, endpoint: str, busy: tuple[float, ...], latency: float, throughput: float
) -> None:
    found = finding(KEYS, "SERIAL", operation=operation)

    assert _plain(found.where.endpoint) == endpoint
    assert evidence_of(found)["busy"] == pytest.approx(busy, abs=5e-4)
    assert number(found, "latency_slope") == pytest.approx(latency, abs=5e-4)
    assert number(found, "throughput_slope") == pytest.approx(throughput, abs=5e-4)


def test_keys_capacity_of_uploads() -> None:
    found = finding(KEYS, "SERIAL", operation=UPLOAD)

    assert number(found, "capacity_per_s") == pytest.approx(1.15, abs=0.005)
    assert evidence_of(found)["capacity_interval_per_s"] == pytest.approx((1.00, 1.32), abs=0.005)
    assert number(found, "held_s") == pytest.approx(0.87, abs=0.005)
    assert number(found, "s_per_user") == pytest.approx(0.73, abs=0.005)


def test_keys_little_holds_and_what_is_missing_was_cut_off_at_the_end() -> None:
    found = finding(KEYS, "LITTLE")
    unfinished = evidence_of(found)["unfinished_per_user"]
    assert isinstance(unfinished, tuple)

    assert found.weight == "insight"
    assert "in 12 of 12 runs" in said(found).statement
    assert number(found, "deficit") == pytest.approx(0.145, abs=5e-4)
    assert number(found, "deficit_explained") == pytest.approx(0.26, abs=0.005)
    assert (round(min(unfinished), 2), round(max(unfinished), 2)) == (0.47, 1.02)


def test_keys_throughput_that_falls_is_not_established() -> None:
    get, patch = finding(KEYS, "RETRO", operation=GET), finding(KEYS, "RETRO", operation=PATCH)

    assert {each.weight for each in findings(KEYS, "RETRO")} == {"insight"}
    assert all("is not established" in said(each).statement for each in findings(KEYS, "RETRO"))
    # One run of each level: such runs count as differing by 10 %.
    assert number(get, "p") == pytest.approx(0.592, abs=5e-4)
    assert number(patch, "p") == pytest.approx(0.509, abs=5e-4)
    assert number(get, "q") == number(patch, "q") == 1.0
    assert round(1 - number(get, "ratio_with_unfinished"), 2) == 0.09
    assert round(1 - number(get, "ratio"), 2) == 0.16


def test_keys_no_scalability_law_is_published() -> None:
    assert len(findings(KEYS, "USL")) == 4
    assert all("3 levels, at least 6" in str(evidence_of(each)["refused"]) for each in findings(KEYS, "USL"))
    assert not any("contention" in evidence_of(each) for each in findings(KEYS, "USL"))


def test_keys_the_ladder_begins_beyond_the_knee() -> None:
    upload = finding(KEYS, "PRE-KNEE", operation=UPLOAD)

    assert len(findings(KEYS, "PRE-KNEE")) == 4
    assert number(upload, "bound_users") == pytest.approx(1.306 * 1.15, abs=1e-3)
    assert "at most 1.5 users" in said(upload).statement
    assert not findings(KEYS, "SAT")


def test_keys_capacity_is_shared_and_not_given_in_order() -> None:
    found = finding(KEYS, "SHARED", operation=GET)
    per_user = evidence_of(found)["min_s_per_user"]

    assert isinstance(per_user, tuple)
    assert (round(min(per_user), 2), round(max(per_user), 2)) == (0.42, 0.51)
    assert "hypothesis" in said(found).statement


def _failures() -> list[Finding]:
    return findings(KEYS, "ERR", operation=DELETE, endpoint=DESTROY)


@pytest.mark.parametrize(
    ("users", "share", "interval"),
    [(10, 0.8969, (0.850, 0.930)), (30, 0.965, (0.930, 0.983)), (50, 0.980, (0.949, 0.992))],
)
def test_keys_shares_of_failures(users: int, share: float, interval: tuple[float, float]) -> None:
    evidence = evidence_of(_failures()[0])
    shares = dict(zip(evidence["loads"], evidence["shares"], strict=True))  # type: ignore[arg-type]

    assert shares[users] == pytest.approx(share, abs=5e-4)
    assert evidence[f"interval at {users} users"] == pytest.approx(interval, abs=5e-4)


def test_keys_failures_begin_at_or_below_the_lowest_rung_and_change_with_it() -> None:
    assert evidence_of(_failures()[0])["bracket"] == (0, 10)
    assert number(_failures()[0], "p_same_share") == pytest.approx(0.0003, abs=5e-5)
    assert findings(KEYS, "ERR", operation=UPLOAD) == []


def test_keys_more_than_90_percent_is_not_supported_at_10_users() -> None:
    (claimed,) = [each for each in _failures() if "claim" in evidence_of(each)]

    assert (
        "more than 90 % of the requests failed is not supported at 10 users (89.69 % [85, 93])"
        in said(claimed).statement
    )
    assert "30 users" not in said(claimed).statement and "50 users" not in said(claimed).statement


def test_keys_test_data_are_suspected_and_not_a_bottleneck() -> None:
    (suspected,) = [each for each in _failures() if "failed_ms" in evidence_of(each)]
    times = evidence_of(suspected)["failed_ms"]
    assert isinstance(times, tuple)

    assert "HTTP 400" in said(suspected).statement
    assert (min(times), max(times)) == (450, 1123)
    assert "hypothesis: a precondition or the test data is at fault, not overload" in said(suspected).statement


@pytest.mark.parametrize("users", ["10 users", "30 users", "50 users"])
def test_keys_percentiles_of_both_endpoints_together_are_refused(users: str) -> None:
    found = finding(KEYS, "BIMODAL", operation=DELETE, level=users)

    assert found.weight == "blocks"
    assert found.where.endpoint == ("", "Aggregated")
    assert found.where.kinds == ("quantile",)


def test_keys_a_rounded_maximum_is_no_contradiction() -> None:
    assert findings(KEYS, "ORDER") == []
    assert number(finding(KEYS, "STEP"), "step") == 0.1


# Seven steps of a todo service: 50 users, 5 more a second, who do not pause. Baseline, index, replica, async, orjson,
# limit, limit and index.


@pytest.mark.parametrize(
    ("step", "seconds", "throughput", "mean", "size"),
    [
        ("step 1", 120.0, 21.96, 2.132, 71_876),
        ("step 2", 119.9, 21.95, 2.153, 72_632),
        ("step 3", 119.8, 24.82, 1.915, 78_400),
        ("step 4", 119.9, 28.06, 1.689, 93_618),
        ("step 5", 119.9, 27.51, 1.727, 92_118),
        ("step 6", 66.6, 54.58, 0.847, 27_601),
        ("step 7", 96.9, 62.20, 0.759, 27_601),
    ],
)
def test_todos_what_was_measured(step: str, seconds: float, throughput: float, mean: float, size: int) -> None:
    (trial,) = analysis(TODOS).study.cell(CellKey(step, analysis(TODOS).study.levels[0]))
    get = trial.endpoint(("GET", "/todos/"))
    assert trial.total is not None and trial.total.mean is not None and get is not None and get.size is not None

    assert trial.duration == pytest.approx(seconds, abs=0.06)
    assert trial.total.rate == pytest.approx(throughput, abs=0.005)
    assert trial.total.mean / 1000 == pytest.approx(mean, abs=6e-4)
    assert round(get.size) == size


def test_todos_little_holds_with_the_users_that_were_there() -> None:
    found = finding(TODOS, "LITTLE")

    assert found.weight == "insight"
    assert evidence_of(found)["ratios"] == pytest.approx((0.977, 0.986, 0.992, 0.989, 0.992, 0.999, 0.996), abs=6e-4)


def test_todos_one_run_each_establishes_nothing() -> None:
    found = comparisons(TODOS)

    assert found
    assert {each.word for each in found} <= {"one run", "no verdict", "invalid"}
    assert {each.p for each in found} == {None}


@pytest.mark.parametrize(
    ("step", "against", "change", "interval"),
    [("step 2", "step 1", -0.0006, (0.947, 1.055)), ("step 5", "step 4", -0.019, (0.935, 1.029))],
)
def test_todos_index_and_orjson_are_within_what_counting_scatters(
    step: str, against: str, change: float, interval: tuple[float, float]
) -> None:
    found = finding(TODOS, "FLOOR", variant=step, against=against)

    assert number(found, "ratio") - 1 == pytest.approx(change, abs=5e-4)
    assert evidence_of(found)["interval"] == pytest.approx(interval, abs=6e-4)


@pytest.mark.parametrize(
    ("step", "change"),
    [
        ("step 2", -0.0006),
        ("step 3", 0.131),
        ("step 4", 0.131),
        ("step 5", -0.019),
        ("step 6", 0.98),
        ("step 7", 0.140),
    ],
)
def test_todos_throughput_against_the_step_before(step: str, change: float) -> None:
    study = analysis(TODOS).study
    before, after = (
        study.cell(CellKey(name, study.levels[0]))[0].total
        for name in (study.variants[study.variants.index(step) - 1], step)
    )
    assert before is not None and before.rate and after is not None and after.rate

    assert after.rate / before.rate - 1 == pytest.approx(change, abs=0.006)


def _growing() -> Finding:
    (found,) = [each for each in findings(TODOS, "PAYLOAD") if "rows of step 1" in evidence_of(each)]
    return found


@pytest.mark.parametrize(
    ("step", "rows", "created"),
    [("step 1", 525, 532), ("step 2", 530, 526), ("step 3", 572, 597), ("step 4", 683, 692), ("step 5", 672, 662)],
)
def test_todos_the_list_has_half_of_the_rows_that_were_created(step: str, rows: int, created: int) -> None:
    assert round(number(_growing(), f"rows of {step}")) == rows
    assert number(_growing(), f"expected rows of {step}") == pytest.approx(created, abs=0.6)


def test_todos_faster_builds_make_themselves_slower_work() -> None:
    assert (
        "the list grows during the run, so a faster variant makes its own requests slower" in said(_growing()).statement
    )
    assert "derived" in said(_growing()).statement


@pytest.mark.parametrize(
    ("step", "per_row", "raw"),
    [("step 3", -0.18, -0.11), ("step 4", -0.475, -0.32), ("step 5", -0.45, -0.30)],
)
def test_todos_per_row_the_steps_are_faster_than_their_means(step: str, per_row: float, raw: float) -> None:
    assert number(_growing(), f"per_row_ratio of {step}") - 1 == pytest.approx(per_row, abs=0.005)
    assert number(_growing(), f"mean_ratio of {step}") - 1 == pytest.approx(raw, abs=0.005)


@pytest.mark.parametrize(
    ("step", "ms"), [("step 1", 4.45), ("step 2", 4.48), ("step 3", 3.65), ("step 4", 2.34), ("step 5", 2.44)]
)
def test_todos_milliseconds_per_row(step: str, ms: float) -> None:
    assert number(_growing(), f"ms_per_row of {step}") == pytest.approx(ms, abs=0.006)


@pytest.mark.parametrize(
    ("step", "against", "word"),
    [
        ("step 2", "step 1", "one run"),
        ("step 3", "step 2", "invalid"),
        ("step 4", "step 3", "invalid"),
        ("step 5", "step 4", "one run"),
        ("step 5", "step 1", "invalid"),
        ("step 6", "step 5", "invalid"),
        ("step 7", "step 6", "one run"),
    ],
)
def test_todos_steps_that_did_not_do_the_same_are_not_compared(step: str, against: str, word: str) -> None:
    found = comparisons(TODOS, a=against, b=step, endpoint="GET /todos/")

    assert found
    assert {each.word for each in found} == {word}


def test_todos_creating_one_was_the_same_work_all_along() -> None:
    assert "invalid" not in {each.word for each in comparisons(TODOS, endpoint="POST /todos/")}


def test_todos_the_payload_grew_by_30_percent() -> None:
    found = finding(TODOS, "PAYLOAD", variant="step 4", against="step 1", endpoint="GET /todos/")

    assert evidence_of(found)["bytes"] == pytest.approx((71_876, 93_618), abs=0.5)
    assert number(found, "ratio") == pytest.approx(1.30, abs=0.005)


def test_todos_limit_changes_the_work() -> None:
    (found,) = [each for each in findings(TODOS, "PAYLOAD", variant="step 6") if "rows" in evidence_of(each)]

    assert "step 6 changes the work" in said(found).statement
    assert number(found, "ratio_to_first") - 1 == pytest.approx(-0.62, abs=0.005)
    assert number(found, "ratio_to_previous") - 1 == pytest.approx(-0.70, abs=0.005)
    assert number(found, "rows") == 200


def test_todos_the_plan_contradicts_the_limit() -> None:
    assert evidence_of(finding(TODOS, "PLAN")) == {"plan_rows": 100, "rows": 200}


def test_todos_durations_differ() -> None:
    found = finding(TODOS, "DURATION")

    assert "step 6 67 s and step 7 97 s, others up to 120 s" in said(found).statement


# Old and new build of a discussion service over a ladder of users; no counts, no means, garbled cells.


@pytest.mark.parametrize(("variant", "knee", "bound"), [("A", 282, 272), ("B2", 284, 280)])
def test_ladder_the_knee_of_both_builds(variant: str, knee: int, bound: int) -> None:
    found = finding(LADDER, "SAT", variant=variant)

    assert round(number(found, "knee")) == knee
    assert evidence_of(found)["bracket"] == (240, 336)
    assert number(found, "bound_users") == pytest.approx(bound, rel=0.01)


def test_ladder_the_old_build_collapses() -> None:
    found = finding(LADDER, "RETRO", variant="A")

    assert found.weight == "warning"
    assert evidence_of(found)["rates_per_s"] == (53, 44.5, 32.4, 26.7)
    assert number(found, "ratio") == pytest.approx(0.50, abs=0.005)


def test_ladder_tails_grow_out_of_proportion_at_the_knee() -> None:
    found = finding(LADDER, "ELAST", variant="A", level="336 users")

    assert number(found, "elasticity of GET_thread") == pytest.approx(5.79, abs=0.005)
    assert "utilisation" not in evidence_of(found)


def test_ladder_no_law_without_knowing_what_is_in_flight() -> None:
    assert "users pause an unknown time" in said(finding(LADDER, "USL", variant="A")).statement


def test_ladder_percentiles_that_contradict_each_other_are_named() -> None:
    found = findings(LADDER, "ORDER")

    assert [(each.where.variant, str(each.where.level), each.where.endpoint) for each in found] == [
        ("B2", "48 users", ("", "PATCH_thread")),
        ("B2", "336 users", ("", "PATCH_comment")),
    ]


def test_ladder_garbled_cells_are_named_and_not_guessed() -> None:
    study = analysis(LADDER).study

    assert study.skipped
    assert all(each.why for each in study.skipped)
    assert all(not trial.endpoints for trial in study.trials if str(trial.level) == "578 users")


def test_ladder_one_run_each_is_no_verdict() -> None:
    assert {each.word for each in comparisons(LADDER)} <= {"one run", "no verdict", "invalid"}


# Two tunnels at given rates; percentiles corrected afterwards.

SPIKE, PRESSURE = "Load spike", "Constant pressure"


@pytest.mark.parametrize(
    ("variant", "level", "elasticity", "utilisation"),
    [("tunnel", "800/s", 4.84, 0.83), ("tunnel", "1000/s", 14.5, 0.94), ("koding", "900/s", 24.9, 0.96)],
)
def test_tunnels_where_the_tail_begins_to_grow(variant: str, level: str, elasticity: float, utilisation: float) -> None:
    found = finding(TUNNELS, "ELAST", variant=variant, level=level, operation=SPIKE)

    assert number(found, "elasticity") == pytest.approx(elasticity, abs=0.05 if elasticity > 10 else 0.005)
    assert number(found, "utilisation") == pytest.approx(utilisation, abs=0.005)


def test_tunnels_a_flat_step_is_not_flagged() -> None:
    assert findings(TUNNELS, "ELAST", variant="tunnel", level="900/s", operation=SPIKE) == []


def test_tunnels_the_limit_of_open_files_cannot_be_excluded() -> None:
    found = finding(TUNNELS, "CAP")

    assert (found.where.variant, str(found.where.level), found.where.operation) == ("koding", "1000/s", SPIKE)
    assert number(found, "connections") == pytest.approx(23_495, abs=0.5)
    assert number(found, "limit") == 20_000


@pytest.mark.parametrize(("operation", "bracket"), [(SPIKE, (900, 1000)), (PRESSURE, (300, 400))])
def test_tunnels_where_requests_begin_to_fail(operation: str, bracket: tuple[int, int]) -> None:
    (found,) = [each for each in findings(TUNNELS, "ERR", operation=operation) if "bracket" in evidence_of(each)]

    assert found.where.variant == "koding"
    assert evidence_of(found)["bracket"] == bracket


def test_tunnels_corrected_percentiles_are_doubted_and_those_that_failed_may_be_missing() -> None:
    assert "corrected for coordinated omission afterwards" in said(finding(TUNNELS, "CORRECTED")).statement
    assert "p99 may leave out the 5.05 % of requests that failed" in said(finding(TUNNELS, "SURVIVORS")).statement


def test_tunnels_latencies_are_not_compared_where_one_fails() -> None:
    at_1000 = comparisons(TUNNELS, operation=SPIKE, level="1000/s")

    assert {each.word for each in at_1000 if each.metric.kind == "quantile"} == {"invalid"}


@pytest.mark.parametrize("name", [LADDER, KEYS, TODOS, TUNNELS])
def test_every_finding_is_a_sentence_with_its_rule(name: str) -> None:
    for each in analysis(name).findings:
        assert said(each).statement.endswith(".")
        assert said(each).rule and evidence_of(each)
        assert "nan" not in said(each).statement and "None" not in said(each).statement


def test_tunnels_the_answer_has_the_order_of_the_report_and_no_word_of_no_failures() -> None:
    source = StudySource(analysis(TUNNELS))
    text = outputs.text(source, "md", OutputRequest(command="plimsoll report"))

    assert text.index("Load spike: `tunnel` carries 1000/s") < text.index("Constant pressure: `tunnel` carries 500/s")
    assert "≈83\u202f230" in text and "83\u202f232" not in text
    assert "No request failed" not in text
