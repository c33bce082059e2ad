import pytest
from tests.stats.findings.making import row, run, study

from plimsoll.stats import wording


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.145, "14.5 %"),
        (0.0505, "5.05 %"),
        (0.00042, "0.042 %"),
        (0.99996, "99.9 %"),
        (1, "100 %"),
        (1.2, "120 %"),
        (0, "0 %"),
    ],
)
def test_shares(value: float, text: str) -> None:
    assert wording.percent(value) == text


@pytest.mark.parametrize(("value", "text"), [(8502, "8.5 s"), (870, "870 ms"), (0.31, "0.31 ms"), (37889, "37.9 s")])
def test_times(value: float, text: str) -> None:
    assert wording.ms(value) == text


def test_numbers_and_changes() -> None:
    assert wording.number(23494.9) == "23 495"
    assert wording.number(54.5760) == "54.58"
    assert wording.change(1.131) == "+13.1 %"
    assert wording.change(52.3) == "52.3 times as much"
    assert wording.times([683, 525, 600]) == "525 ms to 683 ms"
    assert wording.times([200, 200.00001]) == "200 ms"
    assert wording.quantity(5_771_518_563, "bytes") == "5.38 GiB"
    assert wording.quantity(1020 * 1024**2, "bytes") == "1020 MiB"
    assert wording.quantity(179.9, "MB") == "179.9 MB"
    assert [wording.users(many) for many in (1, 1.5, 46.7143)] == ["1 user", "1.5 users", "47 users"]
    assert [wording.lead(who) for who in ("a", "")] == ["a: ", ""]
    assert wording.count(1, "run") == "1 run"
    assert wording.count(1500, "request") == "1500 requests"


def test_lists_end_before_nobody_reads_on() -> None:
    assert wording.several(["a"]) == "a"
    assert wording.several(list("abc")) == "a, b and c"
    assert wording.several(list("abcde")) == "a, b, c, d and e"
    assert wording.several(list("abcdefg")) == "a, b, c, d and 3 more"


def test_a_run_is_named_by_what_tells_it_apart() -> None:
    alone = run(10, row("GET /"), id="r1")
    several = [run(n, variant=name, operation=what) for n in (10, 20) for name in "ab" for what in ("read", "GET /")]
    repeated = [run(10, id="r1"), run(10, id="r2", repeat=1)]

    assert wording.place(study(alone), alone) == "r1"
    assert wording.place(study(alone), alone, "GET /") == "GET /"
    assert wording.place(study(*several), several[0]) == "a, read at 10 users"
    assert wording.place(study(*several), several[1], "GET /") == "a, GET / at 10 users"
    assert wording.place(study(*repeated), repeated[1], "GET /") == "GET / (run 2)"
    assert wording.cell(study(*repeated), repeated[1], "GET /") == "GET /"
