"""Names of Locust before 1.0."""

from __future__ import annotations

import pytest

from plimsoll.locust.legacy import FastHttpLocust, HttpLocust, Locust
from plimsoll.users.taskset import TaskSet
from plimsoll.users.user import User


@pytest.mark.parametrize(
    ("old", "today"), [(Locust, "User"), (HttpLocust, "HttpUser"), (FastHttpLocust, "FastHttpUser")]
)
def test_deriving_from_one_tells_todays_name(old, today):
    with pytest.raises(ImportError, match=f"{old.__name__} class has been renamed to {today} "):
        type(old)("Mine", (old,), {})


def test_a_task_set_of_old_is_warned_about_where_it_stands():
    with pytest.warns(DeprecationWarning, match=r"Old\.task_set has no effect: say tasks = \[\.\.\.\]") as warned:

        class Old(User):
            task_set = TaskSet

    assert warned[0].filename == __file__
