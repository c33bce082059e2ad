from __future__ import annotations

import json

import pytest

from plimsoll.locust.inspectuser import get_ratio, print_task_ratio, print_task_ratio_json
from plimsoll.users.tasks import task
from plimsoll.users.user import User


class Buyer(User):
    weight = 3

    @task(3)
    def buy(self) -> None: ...

    @task
    def leave(self) -> None: ...


class Admin(User):
    fixed_count = 1

    @task
    def check(self) -> None: ...


def test_shares_within_a_class_and_of_all() -> None:
    counts = {"Buyer": 3, "Admin": 1}
    assert get_ratio([Buyer, Admin], counts, False)["Buyer"] == {
        "ratio": 0.75,
        "tasks": {"buy": {"ratio": 0.75}, "leave": {"ratio": 0.25}},
    }
    assert get_ratio([Buyer, Admin], counts, True)["Buyer"]["tasks"]["buy"] == {"ratio": 0.75 * 0.75}


def test_both_are_printed_for_so_many_users(capsys: pytest.CaptureFixture[str]) -> None:
    print_task_ratio([Buyer, Admin], 5, False)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["80.0", "Buyer"], ["75.0", "buy"], ["25.0", "leave"], ["20.0", "Admin"], ["100.0", "check"]]
    print_task_ratio_json([Buyer, Admin], 5)
    both = json.loads(capsys.readouterr().out)
    assert both["per_class"]["Buyer"]["ratio"] == 0.8
    assert both["total"]["Buyer"]["tasks"]["leave"]["ratio"] == 0.8 * 0.25
