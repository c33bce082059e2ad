"""Markov chains: the order in which tasks run, and what is no chain."""

from __future__ import annotations

import logging
import random
from collections import Counter

import pytest
from tests.users.user_helpers import RecordingUser, run_to_end

from plimsoll.users.exceptions import (
    InvalidTransitionError,
    LocustError,
    MarkovTaskTagError,
    NoMarkovTasksError,
    NonMarkovTaskTransitionError,
    StopUser,
)
from plimsoll.users.markov import MarkovTaskSet, transition, transitions
from plimsoll.users.tasks import filter_tasks_by_tags, tag, task
from plimsoll.users.taskset import TaskSet


def visited(chain: type[MarkovTaskSet], tasks: int) -> list[str]:
    """The names of so many tasks, picked and not run."""

    class Walker(RecordingUser):
        tasks = [chain]  # noqa: RUF012

    taskset = chain(Walker(None))
    return [taskset.get_next_task().__name__ for _ in range(tasks)]


class Shop(MarkovTaskSet):
    @transitions({"search": 3, "leave": 1})
    def browse(self):
        self.user.note("browse")

    @transition("browse")
    def search(self):
        self.user.note("search")

    @transition("browse")
    def leave(self):
        self.user.note("leave")
        raise StopUser


def test_the_first_task_declared_comes_first_and_each_leads_to_the_next(monkeypatch):
    monkeypatch.setattr(TaskSet, "wait", lambda self: None)

    class Shopper(RecordingUser):
        tasks = [Shop]  # noqa: RUF012

    seen = run_to_end(Shopper).seen
    assert seen[0] == "browse"
    assert seen[-1] == "leave"
    assert seen[0:-1:2] == ["browse"] * len(seen[0:-1:2])
    assert set(seen[1:-1:2]) <= {"search"}


def test_transitions_are_taken_by_weight():
    random.seed(1)
    counts = Counter(visited(Shop, 8000))
    assert counts["browse"] == 4000
    # Binomial with n = 4000 and p = 0.75: standard deviation 27.
    assert 2865 < counts["search"] < 3135


def test_after_a_seed_the_chain_is_the_one_that_random_choice_draws():
    class Walk(MarkovTaskSet):
        @transitions({"there": 2, "here": 3})
        def here(self):
            pass

        @transition("here")
        def there(self):
            pass

    random.seed(7)
    seen = visited(Walk, 40)
    random.seed(7)
    drawn = ["here"]
    while len(drawn) < 40:
        drawn.append(random.choice({"here": ["there"] * 2 + ["here"] * 3, "there": ["here"]}[drawn[-1]]))
    assert seen == drawn


def test_every_user_walks_a_chain_of_its_own():
    assert visited(Shop, 1) == visited(Shop, 1) == ["browse"]


@pytest.mark.parametrize(
    "decorate",
    [
        transitions({"here": 1, "there": 4}),
        transitions([("there", 4), "here"]),
        lambda function: transition("here")(transition("there", weight=4)(function)),
        lambda function: transition("there", 4)(transitions(["here"])(function)),
    ],
    ids=["a dict", "a list", "one by one", "both"],
)
def test_ways_to_say_the_same(decorate):
    random.seed(1)

    class Walk(MarkovTaskSet):
        @decorate
        def start(self):
            pass

        @transition("start")
        def here(self):
            pass

        @transition("start")
        def there(self):
            pass

    # Binomial with n = 1000 and p = 0.8: standard deviation 13.
    assert 740 < Counter(visited(Walk, 2000))["there"] < 860


def test_a_transition_of_weight_zero_is_never_taken(caplog):
    class Walk(MarkovTaskSet):
        @transitions({"there": 0, "here": 1})
        def here(self):
            pass

        @transition("here")
        def there(self):
            pass

    assert set(visited(Walk, 100)) == {"here"}
    assert "The following markov tasks are unreachable in class Walk: ['there']" in caplog.text


def test_a_nested_taskset_may_be_a_task(monkeypatch):
    monkeypatch.setattr(TaskSet, "wait", lambda self: None)

    class Walk(MarkovTaskSet):
        @transition("end")
        class Inside(TaskSet):
            @task
            def look(self):
                self.user.note("look")
                self.interrupt()

        @transition("Inside")
        def end(self):
            self.user.note("end")
            raise StopUser

    class Walker(RecordingUser):
        tasks = [Walk]  # noqa: RUF012

    assert run_to_end(Walker).seen == ["look", "end"]


def test_a_chain_needs_tasks():
    with pytest.raises(NoMarkovTasksError, match="Empty has no task with transitions"):

        class Empty(MarkovTaskSet):
            @task
            def plain(self):
                pass


def test_a_base_class_needs_none():
    class Base(MarkovTaskSet):
        abstract = True

        def helper(self):
            return 1

    with pytest.raises(NoMarkovTasksError):
        type(Base)("Child", (Base,), {})


def test_a_transition_leads_to_what_the_class_has():
    with pytest.raises(InvalidTransitionError, match=r"Lost\.start leads to nowhere, which Lost does not have"):

        class Lost(MarkovTaskSet):
            @transition("nowhere")
            def start(self):
                pass


def test_a_transition_leads_to_a_task_of_the_chain():
    with pytest.raises(NonMarkovTaskTransitionError, match=r"Stuck\.start leads to end, which has no transitions"):

        class Stuck(MarkovTaskSet):
            @transition("end")
            def start(self):
                pass

            @task
            def end(self):
                pass


def test_tags_would_tear_a_chain():
    with pytest.raises(MarkovTaskTagError, match=r"Tagged\.start has tags \(one, two\)"):

        class Tagged(MarkovTaskSet):
            @tag("two", "one")
            @transition("start")
            def start(self):
                pass


@pytest.mark.parametrize(
    "error", [NoMarkovTasksError, InvalidTransitionError, NonMarkovTaskTransitionError, MarkovTaskTagError]
)
def test_all_of_these_are_errors_of_the_locustfile(error):
    assert issubclass(error, LocustError)


def test_tasks_that_are_never_reached_are_warned_about(caplog):
    class Island(MarkovTaskSet):
        @transition("mainland")
        def mainland(self):
            pass

        @transition("mainland")
        def island(self):
            pass

    assert "unreachable in class Island: ['island']" in caplog.text
    caplog.clear()
    type(Shop)("Again", (MarkovTaskSet,), {name: vars(Shop)[name] for name in ("browse", "search", "leave")})
    assert not caplog.records


def test_names_that_mean_something_else(caplog):
    with pytest.raises(Exception, match="run"):

        class Running(MarkovTaskSet):
            @transition("run")
            def run(self):
                pass

    class Starting(MarkovTaskSet):
        @transition("on_start")
        def on_start(self):
            pass

    assert "on_start is decorated with @transition" in caplog.text
    assert caplog.records[0].levelno == logging.WARNING


def test_tags_leave_a_chain_where_it_is(caplog):
    class Walker(RecordingUser):
        tasks = [Shop]  # noqa: RUF012

        @task
        def untagged(self):
            pass

    filter_tasks_by_tags(Walker, tags={"wanted"})
    assert Walker.tasks == [Shop]
    assert not caplog.records
