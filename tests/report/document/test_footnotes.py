from __future__ import annotations

from dataclasses import replace

from tests.report.studies import chain, imported, ladder, operations, rates

from plimsoll.report.document.footnotes import Footnotes, general
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.study import Noise, Precision, Skipped


def footnotes_text(analysis: Analysis, **study: object) -> str:
    changed = Analysis(replace(analysis.study, **study), analysis.findings, analysis.comparisons)
    return "\n".join(general(changed, "plimsoll report x")).replace("\u00a0", " ").replace("\u202f", " ")


def test_marks_are_numbered_and_one_text_has_one():
    notes = Footnotes()
    assert [notes.mark("a"), notes.mark("b"), notes.mark("a")] == ["¹", "²", "¹"]
    for number in range(8):
        notes.mark(str(number))
    assert notes.lines()[-1] == "¹⁰ 7"


def test_our_own_runs():
    text = footnotes_text(ladder())
    assert "rank ⌈q·n⌉" in text
    assert "from when the request was due" in text
    assert "The first 2 s of each run are left out of every number, as a warm-up" in text
    assert "plimsoll tells 3 significant digits of a time" in text
    assert "Each cell is 5 runs; those of a repeat ran next to one another in random order." in text
    assert "A p99 rests on 2 400 requests a run, about 24 of them above it" in text
    assert "A difference matters from 5 % on." in text
    assert "q is p adjusted for 35 comparisons (Holm; those of primary metrics have four fifths" in text
    assert "Closed model" in text
    assert text.endswith("Measured by: plimsoll experiment experiment.toml\nReport by: plimsoll report x")


def test_tables_of_another_tool():
    text = footnotes_text(imported())
    assert "Percentiles of locust are as that report has them" in text
    assert "rank ⌈q·n⌉" not in text
    assert "Times of locust count from when the request was sent" in text
    assert "locust tells 2 significant digits of a time, and none finer than 1 ms" in text
    assert "No cell is more than one run: how far" in text


def test_corrected_times_are_called_modelled():
    trials = tuple(
        replace(each, precision=Precision("vegeta", None, clock="corrected")) for each in rates().study.trials
    )
    text = footnotes_text(rates(), trials=trials)
    assert "Times of vegeta count corrected afterwards for coordinated omission: part of them was modelled" in text
    assert "significant digit" not in text


def test_invalid_and_skipped():
    text = footnotes_text(rates())
    assert (
        "2 runs in 1 cell did not get the load that was asked for. They count only where the cell has no other run."
        in text
    )
    assert "Left out, report.txt:61: 'koding 400 82.66% - -': no percentile." in text
    many = tuple(Skipped(f"f:{number}", "x", "why") for number in range(12))
    assert "Left out: 2 more places" in footnotes_text(rates(), skipped=many)
    assert "Closed model" not in text


def test_repeats_that_are_not_valid_are_none():
    study = ladder().study
    trials = tuple(replace(each, invalid=("lag",) if each.repeat else ()) for each in study.trials)
    assert "No cell has more than one valid run: how far" in footnotes_text(ladder(), trials=trials)


def test_one_run_and_undeclared_metrics():
    text = footnotes_text(chain())
    assert "The interval of ONE RUN EACH (within-run only) holds for these very runs" in text
    assert "Each cell is 1 to 3 runs" in text
    undeclared = replace(ladder(), study=replace(ladder().study, primary=()))
    assert "(Holm; those of all endpoints together have four fifths" in footnotes_text(undeclared)


def test_nothing_compared():
    assert "95 %" not in footnotes_text(operations())


def test_different_warm_ups_and_looks_and_the_noise_of_the_bench():
    first, *others = ladder().study.trials
    noise = (Noise("p99", ("GET", "/"), None, 0.01, 4, rejected=1, compared=20),)
    text = footnotes_text(ladder(), trials=(replace(first, warmup=9.0), *others), looks=3, noise=noise)
    assert "Warm-up is left out of every number: 2 s to 9 s" in text
    assert "to be looked at 3 times" in text
    assert "Of 20 comparisons of this bench with itself (A/A), 1 called identical systems different, 5 %;" in text
