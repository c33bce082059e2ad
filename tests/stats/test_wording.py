import pytest

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


def test_numbers() -> None:
    assert wording.number(23494.9) == "23 495"
    assert wording.number(54.5760) == "54.58"
    assert wording.count(1, "run") == "1 run"
    assert wording.count(1500, "request") == "1500 requests"


def test_lists_end_before_nobody_reads_on() -> None:
    assert wording.several(["a"]) == "a"
    assert wording.several(list("abc")) == "a, b and c"
    assert wording.several(list("abcde")) == "a, b, c, d and e"
    assert wording.several(list("abcdefg")) == "a, b, c, d and 3 more"
