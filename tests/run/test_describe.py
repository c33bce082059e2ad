from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import LocustfileError, PlimsollError
from plimsoll.run.describe import describe, ratio_lines

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
        " * 25.0% Admin",
        "   * 100.0% check",
        " * 75.0% Shopper",
        "   * 75.0% buy",
        "   * 25.0% Browse",
        "     * 12.5% look",
        "     * 12.5% turn",
    ]
    assert description["total"]["Shopper"]["tasks"]["buy"]["ratio"] == 0.75 * 0.75
    assert list(describe([str(path)], ["Admin"])["total"]) == ["Admin"]


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
