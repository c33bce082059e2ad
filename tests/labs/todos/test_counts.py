from dataclasses import dataclass

import pytest
from labs.todos.counts import compare


@dataclass
class Cell:
    method: str
    name: str
    outcome: str
    count: int


def verdicts(cells: list[Cell], received: dict[str, int]) -> dict[str, bool]:
    return {line.endpoint: line.equal for line in compare(cells, received)}


def test_the_seconds_of_an_endpoint_add_up_over_answered_outcomes() -> None:
    cells = [Cell("GET", "/", "success", 3), Cell("GET", "/", "http", 2), Cell("GET", "/", "assertion", 1)]
    assert verdicts(cells, {"GET /": 6}) == {"GET /": True}
    assert verdicts(cells, {"GET /": 5}) == {"GET /": False}
    assert verdicts(cells, {"GET /": 7}) == {"GET /": False}


def test_an_endpoint_that_only_one_side_knows_is_a_difference() -> None:
    assert verdicts([Cell("GET", "/a", "success", 1)], {}) == {"GET /a": False}
    assert verdicts([], {"GET /b": 1}) == {"GET /b": False}


@pytest.mark.parametrize("outcome", ["connect", "tls", "dropped"])
def test_what_was_never_sent_is_not_expected(outcome: str) -> None:
    cells = [Cell("GET", "/", "success", 1), Cell("GET", "/", outcome, 5)]
    assert verdicts(cells, {"GET /": 1}) == {"GET /": True}
    assert verdicts(cells, {"GET /": 2}) == {"GET /": False}


@pytest.mark.parametrize("outcome", ["timeout", "reset", "protocol", "unanswered"])
@pytest.mark.parametrize(("received", "equal"), [(9, False), (10, True), (12, True), (13, False)])
def test_what_may_have_arrived_is_a_range(outcome: str, received: int, equal: bool) -> None:
    cells = [Cell("GET", "/", "success", 10), Cell("GET", "/", outcome, 2)]
    assert verdicts(cells, {"GET /": received}) == {"GET /": equal}


def test_a_line_says_both_counts_and_the_verdict() -> None:
    (line,) = compare([Cell("GET", "/", "success", 10), Cell("GET", "/", "unanswered", 2)], {"GET /": 9})
    assert str(line).split(maxsplit=2)[2] == "reported 10 + 2 without a response, received 9: DIFFERENT"
