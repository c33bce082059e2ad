"""Transitions by name, list and dict; the same seed walks the same way. Mistakes are told when the class is made."""

import random

from locust import MarkovTaskSet, User, constant, transition, transitions
from locust.user.markov_taskset import (
    InvalidTransitionError,
    MarkovTaskTagError,
    NoMarkovTasksError,
    NonMarkovTaskTransitionError,
)
from parity import note


class Chain(MarkovTaskSet):
    steps = 0

    def on_start(self):
        random.seed(11)

    @transition("b")
    def a(self):
        self.step("a")

    @transitions({"a": 1, "c": 3})
    def b(self):
        self.step("b")

    @transitions(["a", ("b", 2), "c"])
    def c(self):
        self.step("c")

    def step(self, name):
        note("step", name)
        self.steps += 1
        if self.steps == 25:
            self.user.environment.runner.quit()


def mistake(**members):
    try:
        type("Wrong", (MarkovTaskSet,), members)
    except Exception as error:
        note("mistake", [type(error).__name__, str(error)])


def step(self):
    pass


mistake()
mistake(a=transition("missing")(step))
mistake(a=transition("step")(lambda self: None), step=step)
note("errors", [each.__mro__[1].__name__ for each in (InvalidTransitionError, MarkovTaskTagError)])
note("more errors", [each.__mro__[1].__name__ for each in (NoMarkovTasksError, NonMarkovTaskTransitionError)])


class Walker(User):
    wait_time = constant(0)
    tasks = [Chain]
