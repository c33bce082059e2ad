"""Tasks of base classes come first; a method that is overridden keeps its place only if it is decorated."""

from locust import SequentialTaskSet, TaskSet, User, task
from parity import note


class Base(User):
    abstract = True

    @task
    def first(self):
        note("Base.first")

    @task(2)
    def second(self):
        note("Base.second")


class Mixin:
    @task
    def mixed(self):
        note("Mixin.mixed")


class Child(Base):
    @task
    def third(self):
        note("Child.third")

    def second(self):
        note("Child.second")


class Mixed(Mixin, Base):
    @task
    def own(self):
        note("Mixed.own")


class Set(TaskSet):
    @task
    def one(self):
        pass

    @task
    def two(self):
        pass


class Subset(Set):
    tasks = [lambda self: None]

    @task(3)
    def one(self):
        pass


class Line(SequentialTaskSet):
    @task
    def one(self):
        pass

    tasks = [Set]

    @task(2)
    def two(self):
        pass


class Longer(Line):
    @task
    def three(self):
        pass


for each in (Base, Child, Mixed, Set, Subset, Line, Longer):
    note(each.__name__, [getattr(one, "__qualname__", str(one)) for one in each.tasks])
note("abstract", [each.abstract for each in (Base, Child, Mixed)])


class Stopper(User):
    @task
    def stop(self):
        self.environment.runner.quit()


# run: Stopper
