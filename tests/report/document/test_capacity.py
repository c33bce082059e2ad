from __future__ import annotations

import json
import re

import pytest
from tests.stats.capacity.probes import SLO, probe, search_of

from plimsoll.report.document.capacity import capacity_picture
from plimsoll.report.document.study import document_of
from plimsoll.report.outputs import text
from plimsoll.report.render.pictures import svg
from plimsoll.report.sources import OutputRequest, StudySource
from plimsoll.say.answer import answer_of
from plimsoll.stats.analysis import analyse
from plimsoll.stats.capacity.probe import CapacitySearch
from plimsoll.stats.study import Level, Measured, Study, Trial

INVALID = ("a worker was lost",)


def study(probes, unit="/s", *, is_finished=True, per_arrival=1.0):
    trials = tuple(
        Trial(
            id=f"t{place}",
            variant="v",
            level=Level(unit, each.load),
            total=Measured("", "Aggregated", rate=each.load * per_arrival),
        )
        for place, each in enumerate(probes)
    )
    search = CapacitySearch(SLO, unit, 10.0, tuple(probes), is_finished)
    return Study("shop", trials, question="Which load?", command="plimsoll capacity a|b", search=search)


def sentences(*arguments, **options):
    return list(answer_of(analyse(study(*arguments, **options))))


def report(of, format, **request):
    return text(StudySource(analyse(of)), format, OutputRequest("plimsoll report shop", **request))


def test_the_answer_in_plain_sentences():
    first, broke, *rest = sentences(search_of(backlog=0.0))
    objective = "with p99 < 200ms, errors < 0.1%, in runs of 10 s."
    assert re.fullmatch(rf"This service carries 202 requests/s \(188–213\) {re.escape(objective)}", first)
    assert broke == "Above that p99 broke the objective."
    assert rest == ["The backlog did not grow in runs up to 200/s; longer runs (--time) show whether that lasts."]


def test_runs_that_disagree_up_to_the_highest_load_are_counted():
    first, second, *_ = sentences([probe(80, 90.0), probe(160, 900.0), probe(160, 100.0), probe(160, 110.0)])
    assert first.startswith("This service carries at least 80 requests/s with")
    assert second == "Of the runs above that, 1 of 3 broke the objective by p99, at 160/s; the others met it."


def test_a_growing_backlog_says_that_a_longer_run_may_carry_less():
    assert sentences(search_of(backlog=2.5))[-1] == (
        "A longer run may carry less: the backlog was still growing at 200/s, by 2.5 requests per second."
    )
    assert len(sentences(search_of())) == 2


def test_a_rate_of_flows_is_said_in_arrivals_and_users_as_users():
    assert "carries 202 arrivals/s (" in sentences(search_of(), per_arrival=3.0)[0]
    assert "carries 202 users (" in sentences(search_of(), "users")[0]
    assert sentences([probe(100_000, 20.0)])[0].startswith("This service carries at least 100000 requests/s with")


@pytest.mark.parametrize(
    ("probes", "first", "second"),
    [
        (
            [probe(400, 20.0)],
            "at least 400 requests/s with p99 < 200ms, errors < 0.1%, in runs of 10 s.",
            "Nothing that was tried broke the objective.",
        ),
        (
            [probe(4, 900.0)],
            "does not meet p99 < 200ms, errors < 0.1% even at 4/s, the lowest load that was tried.",
            "",
        ),
        ([probe(4, 20.0, invalid=INVALID)], "No answer", "generator was the limit, not the service (at 4: a worker"),
        (
            [probe(4, 20.0), probe(8, 20.0, invalid=INVALID)],
            "at least 4 requests/s",
            "the limit, not the service (at 8",
        ),
        (
            [probe(100, 20.0), *(probe(each, p99) for each in (150, 160) for p99 in (100.0, 300.0)), probe(200, 900.0)],
            "between 100 and 200 requests/s",
            "Above that p99 broke",
        ),
    ],
)
def test_what_is_not_found_is_said_as_it_is(probes, first, second):
    of = study(probes)
    found = answer_of(analyse(of))
    assert first in found[0]
    assert second in (found[1] if len(found) > 1 else "")
    json.loads(report(of, "json"))
    assert svg(capacity_picture(of, of.search)).count('aria-roledescription="point"') == len(probes)


def test_the_report_in_its_order():
    of = study([*search_of(), probe(150, 90.0, invalid=INVALID)], is_finished=False)
    shown = report(of, "text", width=120)
    places = [
        shown.index(each)
        for each in ("This service carries", "The runs by load", "What to be careful about", "Evidence", "Made by:")
    ]
    assert places == sorted(places)
    assert "The search is not finished: this rests on 14 runs." in shown
    assert "1 run did not count: a worker was lost" in shown
    assert "Stay below 188 to meet it in most." in shown


def test_every_run_has_a_row_by_load():
    of = study([*search_of(), probe(202, 230.0, share=80.0), probe(150, 90.0, invalid=INVALID)])
    rows = [re.sub(" +", " ", line) for line in report(of, "md").splitlines() if line.startswith("| ")]
    assert sum("confirm" in each for each in rows) == len(of.search.probes)
    assert "| 150/s | 90 ms | 0% | does not count | confirm | |" in rows
    assert "The load generator may have added up to 80 ms to the times of a run." in report(of, "md")


def test_the_page_has_the_picture_below_the_answer():
    document = document_of(StudySource(analyse(study(search_of()))))
    assert [each.type for each in document.head] == ["answer", "figures"]
    assert [each.name for each in document.charts] == ["capacity"]


def test_the_search_as_json():
    found = json.loads(report(study(search_of(backlog=2.5)), "json"))
    assert (found["schema"], found["version"], found["ending"]) == ("plimsoll.capacity", 2, "found")
    assert found["low"] < found["capacity"] < found["high"]
    assert (found["confidence"], found["broken"]) == (0.95, ["p99 < 200ms"])
    assert found["backlog"] == {"load": 200, "growth_per_s": 2.5}
    assert found["answer"][0].startswith("This service carries 202")
    assert len(found["runs"]) == len(search_of())
