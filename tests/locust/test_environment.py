"""Environment: checks on the user classes, options, tags."""

from __future__ import annotations

from argparse import Namespace

import pytest
from tests.users.user_helpers import run_to_end

from plimsoll.locust.api import Environment, LoadTestShape
from plimsoll.users.events import Events
from plimsoll.users.markov import MarkovTaskSet, transition
from plimsoll.users.tasks import tag, task
from plimsoll.users.taskset import TaskSet
from plimsoll.users.user import User


def user_class(name: str = "Shopper", **attributes) -> type[User]:
    return type(User)(name, (User,), attributes)


def test_a_plain_environment_has_locusts_defaults():
    environment = Environment()
    assert environment.user_classes == []
    assert isinstance(environment.events, Events)
    assert environment.stop_timeout == 0.0
    assert environment.catch_exceptions is True
    assert environment.runner is environment.process_exit_code is environment.host is environment.web_ui is None


def test_classes_without_weight_and_count_are_dropped_from_the_callers_list():
    none, fixed, weighted = user_class("A", weight=0), user_class("B", weight=0, fixed_count=1), user_class("C")
    classes = [none, fixed, weighted]
    environment = Environment(user_classes=classes)
    assert environment.user_classes is classes
    assert classes == [fixed, weighted]
    assert environment.user_classes_by_name == {"B": fixed, "C": weighted}


def test_some_class_must_be_left():
    with pytest.raises(ValueError, match="no users with weight > 0"):
        Environment(user_classes=[user_class(weight=0)])


def test_class_names_are_unique():
    with pytest.raises(ValueError, match=r"same class name: .*Shopper, .*Shopper"):
        Environment(user_classes=[user_class(), user_class()])


def test_a_shape_is_an_object():
    class Stages(LoadTestShape):
        def tick(self):
            return None

    shape = Stages()
    assert Environment(shape_class=shape).shape_class is shape
    with pytest.raises(ValueError, match="should be instance of LoadTestShape"):
        Environment(shape_class=Stages)


@pytest.mark.parametrize(
    ("given", "option", "expected"), [(None, 7, 7.0), (3, 7, 3), (0, 7, 0)], ids=["option", "argument", "zero"]
)
def test_stop_timeout_comes_from_the_argument_or_the_options(given, option, expected):
    options = Namespace(stop_timeout=option)
    assert Environment(stop_timeout=given, parsed_options=options).stop_timeout == expected


def tagged() -> type[User]:
    class Shopper(User):
        @tag("a")
        @task
        def first(self):
            pass

        @tag("b")
        @task
        def second(self):
            pass

    return Shopper


@pytest.mark.parametrize(
    ("arguments", "options", "expected"),
    [
        ({}, {}, ["first", "second"]),
        ({"tags": ["a"]}, {}, ["first"]),
        ({"exclude_tags": ["a"]}, {}, ["second"]),
        ({}, {"tags": ["b"]}, ["second"]),
        ({}, {"tags": [], "exclude_tags": []}, ["first", "second"]),
        ({"tags": ["a"]}, {"tags": ["b"]}, ["first"]),
    ],
)
def test_tasks_are_filtered_by_tags(arguments, options, expected):
    cls = tagged()
    environment = Environment(user_classes=[cls], parsed_options=Namespace(**options), **arguments)
    environment._filter_tasks_by_tags()
    assert [inner.__name__ for inner in cls.tasks] == expected


def test_tasks_are_filtered_once():
    cls = tagged()
    environment = Environment(user_classes=[cls], tags=["a"])
    environment._filter_tasks_by_tags()
    environment.tags = ["b"]
    environment._filter_tasks_by_tags()
    assert [inner.__name__ for inner in cls.tasks] == ["first"]


def test_equal_weights_flatten_nested_tasksets():
    class Shopper(User):
        weight = 9

        @task(5)
        def browse(self):
            pass

        @task
        class Checkout(TaskSet):
            @task(3)
            def pay(self):
                pass

    Environment(user_classes=[Shopper]).assign_equal_weights()
    assert Shopper.weight == 1
    assert [inner.__name__ for inner in Shopper.tasks] == ["browse", "pay"]


def test_equal_weights_leave_a_markov_chain_whole():
    class Chain(MarkovTaskSet):
        @transition("first")
        def first(self):
            pass

    class Shopper(User):
        tasks = {Chain: 7}  # noqa: RUF012

    Environment(user_classes=[Shopper]).assign_equal_weights()
    assert Shopper.tasks == [Chain]


@pytest.mark.parametrize("arguments", [{}, {"picked": True}], ids=["those of the test", "those to pick from"])
def test_a_class_can_be_changed_by_name(arguments):
    cls = tagged()
    environment = Environment(user_classes=[cls])
    if arguments:
        environment = Environment(
            available_user_classes={"Shopper": cls}, available_user_tasks={"Shopper": [*cls.tasks, run_to_end]}
        )
    settings = {"user_class_name": "Shopper", "host": "http://h", "fixed_count": 3, "tasks": ["second", "run_to_end"]}
    environment.update_user_class(settings)
    assert (cls.host, cls.fixed_count) == ("http://h", 3)
    assert [inner.__name__ for inner in cls.tasks] == (["second", "run_to_end"] if arguments else ["second"])
    assert settings["user_class_name"] == "Shopper"


def test_a_class_that_there_is_not_cannot_be_changed():
    with pytest.raises(KeyError, match="Nobody"):
        Environment(user_classes=[tagged()]).update_user_class({"user_class_name": "Nobody"})


def test_the_last_logs_of_each_worker_are_kept():
    environment = Environment()
    for report in ({"worker_id": "a", "logs": ["1"]}, {"worker_id": "a", "logs": ["2"]}, {"worker_id": "b"}, {}):
        environment.update_worker_logs(report)
    assert environment.worker_logs == {"a": ["2"], "b": []}


def test_what_locust_takes_is_taken_and_nothing_else():
    environment = Environment(dispatcher_class=object, profile="smoke", available_user_tasks={})
    assert (environment.dispatcher_class, environment.profile) == (object, "smoke")
    with pytest.raises(TypeError, match="no_such_option"):
        Environment(no_such_option=1)


def test_its_statistics_are_those_of_its_recorder():
    environment = Environment()
    environment.recorder.custom(environment.recorder.endpoint("GET", "/"), 1.0, 0)
    assert environment.stats is environment.stats
    assert environment.stats.get("/", "GET").num_requests == 1
