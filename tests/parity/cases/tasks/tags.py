"""Which tasks are left by --tags and --exclude-tags, also in nested sets, and what is said when none are."""

from locust import SequentialTaskSet, TaskSet, User, events, tag, task
from parity import note


class Inner(TaskSet):
    @tag("a", "deep")
    @task
    def tagged(self):
        pass

    @task
    def untagged(self):
        pass


class Tagged(User):
    @tag("a")
    @task
    def a(self):
        pass

    @tag("b")
    @task(2)
    def b(self):
        pass

    @tag("a", "b")
    @task
    def both(self):
        pass

    @task
    def none(self):
        pass

    @tag("c")
    @task
    class Set(SequentialTaskSet):
        @task
        def one(self):
            pass

        @tag("b")
        @task
        def two(self):
            pass

    tasks = [Inner]


def names(tasks):
    return [[each.__name__, names(each.tasks)] if hasattr(each, "tasks") else each.__name__ for each in tasks]


@events.spawning_complete.add_listener
def show(**_):
    note("left", names(Tagged.tasks))


@events.init.add_listener
def options(environment, **_):
    note("tags", [environment.tags, environment.exclude_tags])


try:
    tag()(lambda self: None)
except Exception as error:
    note("no tag", error)
try:
    tag(lambda self: None)
except Exception as error:
    note("bare tag", error)
# compare: log
# run none: -t 1
# run one: -t 1 -T a
# run two: -t 1 --tags b deep
# run exclude: -t 1 -E b
# run both: -t 1 -T a -E b
# run sets: -t 1 -T c
# run nothing: -t 1 -T missing
