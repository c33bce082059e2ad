from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import LocustfileError, PlimsollError
from plimsoll.locust.inspectuser import ratio_lines, users_of_each
from plimsoll.locust.script.describe import describe
from plimsoll.users.user import User

TEXT = """
from locust import HttpUser, TaskSet, task
print("loading")

class Shopper(HttpUser):
    weight = 3

    @task(3)
    def buy(self): pass

    @task
    class Browse(TaskSet):
        @task
        def look(self): pass
        @task
        def turn(self): pass

class Admin(HttpUser):
    @task
    def check(self): pass
"""


def test_classes_and_shares_of_tasks(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text(TEXT)
    description = describe([str(path)], [])
    assert description["classes"] == ["Admin", "Shopper"]
    assert ratio_lines(description["per_class"]) == [
        f" {'25.0':<10} {'Admin':<50}",
        f" {'  100.0':<10} {'  check':<50}",
        f" {'75.0':<10} {'Shopper':<50}",
        f" {'  75.0':<10} {'  buy':<50}",
        f" {'  25.0':<10} {'  Browse':<50}",
        f" {'    50.0':<10} {'    look':<50}",
        f" {'    50.0':<10} {'    turn':<50}",
    ]
    total = description["total"]["Shopper"]["tasks"]
    assert total["buy"]["ratio"] == 0.75 * 0.75
    assert total["Browse"]["tasks"]["look"]["ratio"] == 0.75 * 0.25 / 2
    per_class = description["per_class"]["Shopper"]["tasks"]
    assert (per_class["Browse"]["ratio"], per_class["Browse"]["tasks"]["look"]["ratio"]) == (0.25, 0.5)
    assert list(describe([str(path)], ["Admin"])["total"]) == ["Admin"]


def test_of_so_many_users_each_class_has_whole_ones(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text(TEXT)
    shares = {name: each["ratio"] for name, each in describe([str(path)], [], 10)["total"].items()}
    assert shares == {"Admin": 2 / 10, "Shopper": 8 / 10}


@pytest.mark.parametrize(
    ("users", "expected"),
    [
        (None, {"Fixed": 2, "Heavy": 0, "Light": 0}),
        (6, {"Fixed": 2, "Heavy": 3, "Light": 1}),
        (1, {"Fixed": 2, "Heavy": 0, "Light": 0}),
    ],
)
def test_fixed_counts_come_first(users: int | None, expected: dict[str, int]) -> None:
    classes = [type(name, (User,), {"weight": weight}) for name, weight in (("Fixed", 9), ("Heavy", 3), ("Light", 1))]
    classes[0].fixed_count = 2
    assert users_of_each(classes, users) == expected
    assert users_of_each(classes[1:], None) == {"Heavy": 3, "Light": 1}


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [("1 / 0\n", LocustfileError, "ZeroDivisionError"), ("import os\nos._exit(3)\n", PlimsollError, "with code 3")],
)
def test_a_broken_locustfile_is_told_as_in_a_run(
    tmp_path: Path, text: str, error: type[PlimsollError], message: str
) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(error, match=message):
        describe([str(path)], [])
