"""The sentences of checks: each class has one, in each state that a run can give it."""

from __future__ import annotations

import pytest

from plimsoll.record.events import WorkerLost, WorkerReplaced
from plimsoll.say.validity import check_text, omission_lines, unclean_text
from plimsoll.stats.latency.omission import Omission
from plimsoll.stats.validity import ValidityCheck
from plimsoll.stats.validity.lateness import UncleanFigure
from plimsoll.stats.validity.load import ExhaustedCheck, OfferedCheck, WorkersCheck
from plimsoll.stats.validity.record import PercentilesCheck, StoredCheck


def names(of: type[ValidityCheck] = ValidityCheck) -> set[str]:
    return {name for kind in of.__subclasses__() for name in (kind.__name__, *names(kind))}


def test_each_kind_of_check_has_a_sentence_of_its_own() -> None:
    assert names() == {kind.__name__ for kind in check_text.registry} - {"object"}


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (
            OfferedCheck("ok", 0.9986, begun_per_s=23_461.4, offered_per_s=23_494.3),
            "23\u202f461/s of 23\u202f494/s offered were begun in time (99.8 %)",
        ),
        (
            WorkersCheck(
                "failed",
                1,
                lost=(WorkerLost(worker=2, place="node b", how="was killed", users=3, kept_to=7),),
                replaced=(WorkerReplaced(worker=2, to_second=12),),
                incomplete_from=8,
                incomplete_to=12,
            ),
            "worker 2 (node b) was killed: its 3 users are lost, kept is what it measured up to second 7; another one "
            "took its place with second 12; what was measured is incomplete from second 8 to 11",
        ),
        (ExhaustedCheck("unknown"), "no worker reported whether files, ports and memory sufficed"),
        (PercentilesCheck("n/a"), "nothing was timed"),
        (StoredCheck("failed", lost="second 3 was not stored"), "second 3 was not stored"),
    ],
    ids=lambda value: value.name if isinstance(value, ValidityCheck) else "",
)
def test_a_check_has_its_numbers_in_the_forms_of_all_sentences(check: ValidityCheck, text: str) -> None:
    assert check_text(check) == text


def test_a_figure_with_too_large_a_share_of_the_generator() -> None:
    assert unclean_text(UncleanFigure("p99", 120, 1310, "GET /")) == (
        "p99 of GET / 1.31 s, up to 120 ms of it the generator's"
    )
    assert unclean_text(UncleanFigure("throughput", 0.0234)) == "throughput, up to 2.3 % too low"


@pytest.mark.parametrize(("rate", "option"), [(0.5, "0.5"), (12_345.6, "12346")])
def test_the_advice_of_what_was_hidden_can_be_given_as_an_option(rate: float, option: str) -> None:
    times = {0.9: 4.0, 0.99: 5.0, 0.999: 6.0}
    hidden = Omission(rate, 0.1, times, {0.9: 500.0, 0.99: 950.0, 0.999: 990.0}, stalls=10, missed=90, stall_ms=100.0)
    assert omission_lines(hidden)[-1] == f"to measure it instead, run the open model: --rate {option}/s"
