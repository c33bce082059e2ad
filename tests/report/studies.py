"""Analyses of every shape, made by hand for whoever lays them out: what is in them is plausible, not computed.

Every word of a verdict and every weight of a finding occurs in some of them.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

from tests.report.traffic import WARMUP, Traffic, trial
from tests.say.written import written

from plimsoll.record.cells import CellKey
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.compare.comparison import Comparison, Remark, RunsNeeded
from plimsoll.stats.findings.finding import Where
from plimsoll.stats.findings.saturation import Saturation
from plimsoll.stats.findings.serial import SerialBottleneck
from plimsoll.stats.findings.subject import Subject
from plimsoll.stats.findings.target.leaks import TargetCrash
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Level, Measured, Precision, Skipped, Study, Trial

if TYPE_CHECKING:
    from collections.abc import Callable

GET, POST = ("GET", "/todos/"), ("POST", "/todos/")
EVIL = '/a</script><script>alert("1")</script>&\'<!--'
"""A name that a hostile target may send."""

ABOUT = {"machine": "4 × Xeon E5-2666 v3, 7.5 GiB", "kernel": "Linux 6.12.9", "plimsoll": "0.1.0"}


def compared(
    study: Study, a: str, b: str, metric: Metric, endpoint: tuple[str, str], level: Level | None, **others: Any
) -> Comparison:
    """b against a by their means, with an interval of ±3 %; the word is given."""
    operation = others.pop("operation", "")
    width = others.pop("width", 0.03)

    def value(variant: str) -> float | None:
        values = [metric.of(m) for t in study.cell(CellKey(variant, level, operation)) if (m := t.endpoint(endpoint))]
        known = [each for each in values if each]
        return math.exp(sum(map(math.log, known)) / len(known)) if known else None

    a_value, b_value = value(a), value(b)
    ratio = b_value / a_value if a_value and b_value else None
    interval = (ratio * math.exp(-width), ratio * math.exp(width)) if ratio and width else (None, None)
    known: dict[str, Any] = {
        "against": "baseline",
        "a_value": a_value,
        "b_value": b_value,
        "ratio": ratio,
        "low": interval[0],
        "high": interval[1],
        "pairs": len(study.cell(CellKey(a, level, operation))),
        "interleaved": True,
        "spread": 0.031,
        "requests": 2400,
        "tail": 24 if metric.quantile == 0.99 else None,
        "warmup": float(WARMUP),
        "checks": (9, 9),
        "primary": any(each.is_same(metric) and each.is_about(endpoint) for each in study.primary),
        "q": others.get("p"),
    }
    return Comparison(metric=metric, a=a, b=b, endpoint=endpoint, level=level, operation=operation, **(known | others))


P50, P99 = Metric("quantile", 0.5), Metric("quantile", 0.99)
THROUGHPUT = Metric("throughput")


@functools.cache
def ladder() -> Analysis:
    """Two builds over four levels, five interleaved repeats each; the new one is slower past the knee."""
    levels = {48: (9.4, 140.0, 1.0), 162: (31.0, 190.0, 1.0), 336: (53.0, 920.0, 1.4), 460: (44.5, 2600.0, 1.3)}
    trials, order = [], 0
    for users, (rate, median, factor) in levels.items():
        for repeat in range(5):
            for variant in ("old", "new") if (users + repeat) % 2 else ("new", "old"):
                slower = factor if variant == "new" else 1.0
                failing = 0.02 if users == 460 else 0.0
                traffic = {
                    ("GET", "/threads/{id}"): Traffic(rate * 0.7 / slower, median * slower, failing=failing),
                    ("POST", "/comments/"): Traffic(rate * 0.3 / slower, 1.6 * median * slower, size=90),
                }
                order += 1
                trials.append(trial(variant, Level("users", users), traffic, repeat=repeat, order=order, think=4.8))
    study = Study(
        "permalink",
        tuple(trials),
        question="Is the build with the permalink index as fast as the old one?",
        metrics=(P50, P99, THROUGHPUT),
        primary=(Metric("quantile", 0.99, "GET /threads/{id}"),),
        interleaved=True,
        gap=12.0,
        variants=("old", "new"),
        source="experiment permalink of plimsoll.db",
        command="plimsoll experiment experiment.toml",
        about=ABOUT,
        shape="ladder",
    )
    words: dict[int, tuple[str, dict[str, Any]]] = {
        48: ("equivalent", {"p": 0.61}),
        162: ("not distinguishable", {"p": 0.13, "resolves": 0.074, "needed": RunsNeeded(3, 36.0, 8)}),
        336: ("different", {"p": 0.0004, "at_least": True}),
        460: ("different", {"p": 0.002, "at_least": True}),
    }
    comparisons = []
    for level in study.levels:
        assert level is not None
        for endpoint in (("GET", "/threads/{id}"), ("POST", "/comments/"), ("", "Aggregated")):
            for metric in study.metrics:
                word, known = words[int(level.value)]
                if metric is P99 and endpoint[0] == "POST" and level.value == 48:
                    word = "no verdict"
                    known = {
                        "reason": Remark("run invalid", names=("p99 rests on 23 requests a run; 368 are needed",)),
                        "width": 0.0,
                    }
                comparisons.append(compared(study, "old", "new", metric, endpoint, level, word=word, **known))
    findings = (
        saturated("old", 282.0, 53.1),
        saturated("new", 240.0, 38.0),
        written(
            "RETRO",
            "warning",
            "Throughput of old falls by 16 % beyond its peak: more users get less done.",
            Where(variant="old", level=Level("users", 460)),
            "At two rungs above the peak it is at most 0.9 of the peak.",
            {"peak_per_s": 53.1, "last_per_s": 44.5},
        ),
    )
    return Analysis(study, tuple(sorted(findings, key=lambda each: each.weight, reverse=True)), tuple(comparisons))


def saturated(variant: str, knee: float, capacity: float) -> Saturation:
    return Saturation(
        Subject(variant),
        knee=knee,
        bracket=(162.0, 336.0),
        capacity_per_s=capacity,
        peak=336.0,
        peak_per_s=capacity,
        per_s_and_load=capacity / knee,
        cycle_s=None,
        bound_users=None,
        unit="users",
        has_failures=False,
        where=Where(variant=variant),
        weight="insight",
    )


def serial(operation: str, capacity: float) -> SerialBottleneck:
    return SerialBottleneck(
        Subject(operation=operation),
        capacity_per_s=capacity,
        held_s=1 / capacity,
        s_per_user=1 / capacity,
        throughput_slope=-0.01,
        latency_slope=1.0,
        busy=(1.0,),
        loads=(1.0, 50.0),
        capacity_interval_per_s=None,
        where=Where(operation=operation),
        weight="insight",
    )


@functools.cache
def operations() -> Analysis:
    """Four operations of one system at three levels, one run each; latency grows with users, throughput does not."""
    named = {
        "upload": {("POST", "/keys/upload"): Traffic(1.15, 850.0)},
        "read": {("GET", "/keys/[id]"): Traffic(1.5, 610.0)},
        "update": {("PATCH", "/keys/[id]"): Traffic(1.3, 704.0)},
        "delete": {
            ("GET", "/keys/[id]/versions"): Traffic(1.2, 673.0),
            ("POST", "/keys/[id]/versions/[v]/schedule-destroy"): Traffic(1.2, 45.0, failing=0.9, status=400),
        },
    }
    trials, order = [], 0
    for operation, traffic in named.items():
        for users in (10, 30, 50):
            order += 1
            grown = {
                key: Traffic(each.rate * 20, each.median * users / 10, each.sigma, each.size, each.failing, each.status)
                for key, each in traffic.items()
            }
            trials.append(trial("2.11", Level("users", users), grown, operation=operation, order=order, think=0.0))
    study = Study(
        "keys",
        tuple(trials),
        question="How many key operations does the appliance do?",
        metrics=(P50, P99),
        about=ABOUT,
        shape="operations",
    )
    findings = (
        written(
            "ERR",
            "warning",
            "90 % of POST /keys/[id]/versions/[v]/schedule-destroy fail with HTTP 400 at the lowest level already, "
            "and faster than what succeeds: a fault of the test's data is suspected, not overload.",
            Where(operation="delete", endpoint=("POST", "/keys/[id]/versions/[v]/schedule-destroy")),
            "The lower bound of the share is above 0.1 % at this level and the next.",
            {"share": 0.897, "low": 0.85, "high": 0.93},
            "Look at the replies: do the keys exist, in the right state?",
        ),
        serial("upload", 23.0),
    )
    return Analysis(study, findings, ())


@functools.cache
def chain() -> Analysis:
    """A baseline and three steps, each compared with the step before and with the baseline; one run of the last."""
    steps = {
        "baseline": (Traffic(130.0, 235.0, size=71_876), "", 3),
        "index": (Traffic(131.0, 234.0, size=72_632), "an index on created_at", 3),
        "async": (Traffic(165.0, 160.0, size=93_618), "async handlers", 3),
        "limit": (Traffic(320.0, 85.0, size=27_601), "LIMIT 200", 1),
    }
    trials, order = [], 0
    for repeat in range(3):
        for name, (get, changes, repeats) in steps.items():
            if repeat >= repeats:
                continue
            order += 1
            traffic = {GET: get, POST: Traffic(get.rate * 0.66, get.median * 0.8, size=136)}
            plan = "Sort (cost=145.88..148.56 rows=1075 width=48)\n  Sort Key: created_at DESC\n  -> Seq Scan on todos"
            if name == "limit":
                plan = (
                    "Limit (cost=0.29..4.07 rows=100 width=48)\n  -> Index Scan using idx_todomodel_created_at on todos"
                )
            facts = {"changes": changes, "rows at the start": 0.0, "rows at the end": 20.0 * get.rate, "explain": plan}
            trials.append(
                trial(
                    name,
                    Level("users", 50),
                    traffic,
                    repeat=repeat,
                    order=order,
                    facts={name: value for name, value in facts.items() if value != ""},
                )
            )
    study = Study(
        "todos",
        tuple(trials),
        question="Which of the steps makes the todos service faster?",
        against=("previous", "baseline"),
        metrics=(P50, P99, THROUGHPUT),
        primary=(Metric("quantile", 0.99, "GET /todos/"), Metric("throughput", None, "Aggregated")),
        interleaved=True,
        about=ABOUT,
        warnings=("limit ran once, the others three times",),
        shape="chain",
    )
    level, comparisons = Level("users", 50), []
    words: dict[tuple[str, str], dict[str, Any]] = {
        ("baseline", "index"): {"word": "negligible", "p": 0.01, "q": 0.02, "width": 0.004},
        ("index", "async"): {
            "word": "invalid",
            "reason": Remark("run invalid", names=("PAYLOAD: replies of GET /todos/ are 29 % larger in async",)),
        },
        ("baseline", "async"): {
            "word": "invalid",
            "reason": Remark("run invalid", names=("PAYLOAD: replies of GET /todos/ are 30 % larger in async",)),
        },
        ("async", "limit"): {"word": "one run", "within_run": True, "pairs": 1},
        ("baseline", "limit"): {"word": "one run", "within_run": True, "pairs": 1},
    }
    for (a, b), known in words.items():
        for endpoint in (GET, POST, ("", "Aggregated")):
            for metric in study.metrics:
                against = "previous" if (a, b) not in (("baseline", "async"), ("baseline", "limit")) else "baseline"
                comparisons.append(compared(study, a, b, metric, endpoint, level, against=against, **known))
    findings = (
        written(
            "PAYLOAD",
            "blocks",
            "Replies of GET /todos/ are 29 % larger in async than in index: not the same work.",
            Where(variant="async", endpoint=GET),
            "Mean sizes differ by at most 5 %.",
            {"a_bytes": 72_632.0, "b_bytes": 93_618.0, "difference": 0.29},
            "Reset the table between runs, or fix the number of rows.",
        ),
        written(
            "BIMODAL",
            "insight",
            "GET /todos/ has two modes in limit, at 84 ms and 1.2 s: an offset of about 1 s is that of a SYN "
            "sent again [hypothesis].",
            Where(variant="limit", endpoint=GET),
            "The valley between two peaks of the log histogram is at most a quarter of the lower peak.",
            {"score": 27.5, "modes_ms": (84.0, 1200.0)},
        ),
    )
    return Analysis(study, findings, tuple(comparisons))


@functools.cache
def rates() -> Analysis:
    """Two implementations at three rates, two repeats; at the highest rate one breaks, and its target crashes."""
    trials, order = [], 0
    for rate in (300, 600, 900):
        for repeat in range(2):
            for variant in ("tunnel", "koding"):
                order += 1
                breaks = variant == "koding" and rate == 900
                median, failing = 12.0 if rate < 900 else 90.0, 0.17 if breaks else 0.0
                carried = rate / 3 * (0.5 if breaks else 1.0)
                traffic = {
                    ("GET", EVIL): Traffic(carried, median, failing=failing, status=502, second_mode=212.0),
                }
                others: dict[str, Any] = {}
                if breaks:
                    others["invalid"] = ("63 % of the offered arrivals were begun, at least 99 % are required",)
                    others["crashed"] = "killed by signal 9 after 7 s" if repeat else None
                trials.append(trial(variant, Level("/s", rate), traffic, repeat=repeat, order=order, **others))
    study = Study(
        "tunnels",
        tuple(trials),
        question="Which tunnel carries more, and what do they do when it is too much?",
        metrics=(P50, P99),
        primary=(Metric("quantile", 0.99),),
        about=ABOUT,
        skipped=(Skipped("report.txt:61", "koding 400 82.66% - -", "no percentile"),),
        shape="rates",
    )
    comparisons = []
    for level in study.levels:
        for metric in study.metrics:
            known: dict[str, Any] = {"word": "not distinguishable", "p": 0.3, "resolves": 0.2, "width": 0.18}
            if level == Level("/s", 900):
                known = {
                    "word": "invalid",
                    "reason": Remark("run invalid", names=("63 % of the offered arrivals were begun",)),
                    "ratio": None,
                }
                known["width"] = 0.0
            if metric is P99:
                known["q"] = 0.3
            comparisons.append(compared(study, "tunnel", "koding", metric, ("GET", EVIL), level, **known))
    findings = (
        written(
            "GEN",
            "blocks",
            "The generator began 63 % of the arrivals offered to koding at 900/s: what it shows is the generator's "
            "limit.",
            Where(variant="koding", level=Level("/s", 900)),
            "At least 98 % are begun while users are free.",
            {"achieved": 0.63},
            "Spread the load over more machines.",
        ),
        TargetCrash(
            Subject(variant="koding", level=Level("/s", 900)),
            "killed by signal 9 after 7 s",
            at_s=None,
            memory=None,
            where=Where(variant="koding", level=Level("/s", 900), trial=trials[-1].id),
            weight="warning",
        ),
    )
    return Analysis(study, findings, tuple(comparisons))


@functools.cache
def imported() -> Analysis:
    """Numbers of somebody's report: no histograms, no course, two digits."""
    locust = Precision("locust", digits=2, floor=1.0, clock="sent", times_of="all")
    trials = []
    for variant, p99 in (("old", 200.0), ("new", 210.0)):
        get = Measured(
            "GET", "/thread", requests=8579, failures=0, rate=47.7, quantiles={0.5: 140.0, 0.95: 180.0, 0.99: p99}
        )
        delete = Measured("DELETE", "/comment", quantiles={0.5: 250.0, 0.95: 310.0, 0.99: 1200.0})
        total = Measured("", "Aggregated", rate=9.4)
        trials.append(
            Trial(
                id=f"report.txt:{variant}",
                variant=variant,
                level=Level("users", 48),
                users=48,
                endpoints=(get, delete),
                total=total,
                precision=locust,
            )
        )
    study = Study("imported", tuple(trials), source="report.txt", metrics=(P50, P99))
    comparisons = tuple(
        compared(study, "old", "new", metric, endpoint, Level("users", 48), word="one run", width=0.0, pairs=1)
        for endpoint in (("DELETE", "/comment"), ("GET", "/thread"))
        for metric in study.metrics
    )
    return Analysis(study, (), comparisons)


SAMPLES: dict[str, Callable[[], Analysis]] = {
    "ladder": ladder,
    "operations": operations,
    "chain": chain,
    "rates": rates,
    "imported": imported,
}
