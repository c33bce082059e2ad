from dataclasses import replace

from tests.report.studies import chain, ladder, rates
from tests.say.written import written

from plimsoll.report.document.cautions import MOST, cautions
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.findings.finding import Where
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Study, Trial
from plimsoll.stats.thresholds.slo import parse_cell_slo


def study_of(*reasons: str) -> Study:
    return Study("s", tuple(Trial(id=str(place), variant="a", invalid=(each,)) for place, each in enumerate(reasons)))


def test_reasons_that_differ_by_their_numbers_are_one_line():
    found = cautions(Analysis(study_of("63 % begun", "58 % begun", "a worker was lost"), (), ()))
    assert found.title == "3 of 3 runs did not get the load that was asked for"
    assert found.bad
    assert found.lines == ("63 % begun (2 runs).", "a worker was lost (1 run).")


def test_findings_of_a_rule_are_one_line_with_what_to_do():
    finding = chain().findings[0]
    found = cautions(Analysis(chain().study, (finding, finding, finding), ()))
    assert found.title == "Be careful"
    assert found.lines[0] == (
        "Replies of GET /todos/ are 29 % larger in async than in index: not the same work. The same holds in 2 more "
        "places. Reset the table between runs, or fix the number of rows. (PAYLOAD)"
    )
    assert found.lines[1] == "limit ran once, the others three times", "warnings of the study follow"


def test_findings_of_a_rule_with_other_figures_are_counted_and_not_called_the_same():
    first = written("ERR", "warning", "25.4 % of the requests to old fail.", Where("old"), "")
    other = written("ERR", "warning", "2.9 % of the requests to new fail.", Where("new"), "")
    found = cautions(Analysis(Study("s", ()), (first, other), ()))
    assert "The same holds" not in found.lines[0]
    assert "1 more finding of this kind" in found.lines[0]


def test_insights_are_nothing_to_be_careful_about():
    insights = tuple(replace(each, weight="insight") for each in ladder().findings)
    assert cautions(Analysis(replace(ladder().study, warnings=()), insights, ())).lines == ()


def test_a_crash_is_named_once():
    lines = cautions(rates()).lines
    assert "The target of koding ended by itself: killed by signal 9 after 7 s." in lines


def test_percentiles_of_too_few_requests_come_last():
    rows = tuple(replace(each, word="no verdict", requests=45) for each in ladder().comparisons)
    lines = cautions(Analysis(ladder().study, ladder().findings, rows)).lines
    assert lines[-1].startswith("Too few requests to compare: p99 in 12 of 12 comparisons")


def test_seconds_that_only_comparisons_leave_out_are_a_line():
    analysis = ladder()
    place = analysis.comparisons[0].level
    declared = next(each.warmup for each in analysis.study.trials if each.level == place)
    rows = tuple(
        replace(each, warmup=declared + 5) if each.level == place else replace(each, warmup=declared)
        for each in analysis.comparisons
    )
    lines = cautions(replace(analysis, comparisons=rows)).lines
    assert any(each.startswith("Comparisons leave out the first 5 s of each run at 1 place, as") for each in lines)
    rows = tuple(replace(each, warmup=declared) for each in rows)
    assert not any("leave out" in each for each in cautions(replace(analysis, comparisons=rows)).lines)


def test_a_primary_metric_that_fits_no_endpoint_is_named():
    asked = Metric.parse("p99 of /thrads"), Metric.parse("p99 of /threads/{id}"), Metric.parse("p50")
    lines = cautions(replace(ladder(), study=replace(ladder().study, primary=asked))).lines
    assert [each for each in lines if "primary" in each] == [
        "p99 of /thrads is a primary metric, but no endpoint has this name: "
        "Aggregated, GET /threads/{id} and POST /comments/."
    ]


def test_an_objective_of_an_endpoint_that_there_is_not_is_named():
    slo = parse_cell_slo("p99 of /thrads < 1s, p99 of Aggregated < 1s, p99 of /threads/{id} < 1s")
    lines = cautions(replace(ladder(), study=replace(ladder().study, slo=slo))).lines
    assert [line for line in lines if "judged" in line] == [
        "No endpoint has the name in p99 of /thrads < 1s, so no load is judged by it: "
        "GET /threads/{id} and POST /comments/."
    ]


def test_many_lines_end_with_their_number():
    many = tuple(written(f"R{n}", "warning", f"statement {n}", Where(), "") for n in range(MOST + 3))
    found = cautions(Analysis(Study("s", ()), many, ()))
    assert len(found.lines) == MOST
    assert found.small == ("3 more lines are among the evidence.",)


def test_nothing_is_said_plainly():
    assert cautions(Analysis(Study("s", ()), (), ())).title == "Nothing speaks against these numbers"
