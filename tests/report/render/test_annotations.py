from __future__ import annotations

from dataclasses import replace

from tests.report.studies import SAMPLES, chain, ladder

from plimsoll.report.render.annotations import MOST, workflow_commands
from plimsoll.report.sources import OutputRequest, StudySource
from plimsoll.stats.analysis import Analysis


def commands(analysis):
    return workflow_commands(StudySource(analysis), OutputRequest())


def test_errors_first_then_warnings_then_notices():
    primary = tuple(each for each in ladder().comparisons if each.primary)
    assert commands(replace(ladder(), comparisons=primary)).splitlines() == [
        "::error title=p99 of GET /threads/{id} at 336 users%2C new against old%3A slower::"
        "DIFFERENT, at least 5 %25 (×1.32 [1.28, 1.36])",
        "::error title=p99 of GET /threads/{id} at 460 users%2C new against old%3A slower::"
        "DIFFERENT, at least 5 %25 (×1.12 [1.09, 1.15])",
        "::warning title=p99 of GET /threads/{id} at 162 users%2C new against old%3A unclear::456 → 523 ms ×1.15 "
        "[1.11, 1.18]: beyond the scatter of 5 interleaved pairs, but not certain as one of all comparisons",
        "::warning title=RETRO (old%2C at 460 users)::"
        "Throughput of old falls by 16 %25 beyond its peak: more users get less done.",
        "::notice title=SAT (old)::old: throughput follows the load up to 162 users and lags at 336 users: the knee is "
        "near 282 users, at 53.1 requests/s. For a closer answer, add levels between 162 and 336 users.",
        "::notice title=SAT (new)::new: throughput follows the load up to 162 users and lags at 336 users: the knee is "
        "near 240 users, at 38 requests/s. For a closer answer, add levels between 162 and 336 users.",
    ]


def test_certain_differences_beyond_the_question_are_said():
    lines = commands(ladder()).splitlines()
    assert lines[0].startswith("::error title=p99 of GET /threads/{id} at 336 users")
    assert "p50 of GET /threads/{id}" in lines[2]
    assert lines[MOST - 1] == "::error title=and more::9 more: `plimsoll report` has all"
    doubtful = tuple(replace(each, at_least=False) for each in ladder().comparisons)
    assert "::error" not in commands(replace(ladder(), comparisons=doubtful)), "it fails no build"


def test_what_is_invalid_is_an_error_and_one_run_each_is_counted():
    text = commands(chain())
    assert "::error title=p99 of GET /todos/ at 50 users%2C async against index::INVALID: PAYLOAD" in text
    assert "::error title=PAYLOAD (async%2C GET /todos/)::" in text
    assert "::notice title=ONE RUN EACH::4 of 10 comparisons" in text


def test_no_text_can_begin_a_command_of_its_own():
    first = chain().findings[0]
    bad = replace(first, statement="100 %\r\n::error title=x::y", advice="")
    text = commands(Analysis(chain().study, (bad,), ()))
    assert text.splitlines() == ["::error title=PAYLOAD (async%2C GET /todos/)::100 %25 ::error title=x::y"]


def test_no_more_of_a_grade_than_are_shown():
    first = ladder().findings[0]
    many = tuple(replace(first, statement=f"s{number}") for number in range(MOST + 3))
    lines = commands(Analysis(ladder().study, many, ())).splitlines()
    assert len(lines) == MOST
    assert lines[-1] == "::warning title=and more::4 more: `plimsoll report` has all"


def test_every_line_is_a_command():
    for make in SAMPLES.values():
        lines = commands(make()).splitlines()
        assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines)
