"""A test without a coordinator: a program creates an Environment and controls its runner; users run in its process.

The results are in `environment.stats`; no run is stored.
"""

from __future__ import annotations

import json
import logging
import traceback
from typing import TYPE_CHECKING, Any

import gevent
from gevent import getcurrent
from gevent.pool import Group

from plimsoll._engine import SpawnTimes, now
from plimsoll.locust.dispatch import spread
from plimsoll.locust.runners import STATE_CLEANUP, STATE_SPAWNING, STATE_STOPPED
from plimsoll.run.dispatch import Dispatcher, UserClass
from plimsoll.run.worker.population import BATCH
from plimsoll.users.ending import end_users
from plimsoll.users.exceptions import CONTROL_FLOW
from plimsoll.users.hub import sleep_until
from plimsoll.users.recording import RequestRecorder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.locust.environment import Environment
    from plimsoll.locust.runners import Runner
    from plimsoll.users.events import EventHook
    from plimsoll.users.user import User

logger = logging.getLogger("locust.runners")

SECOND = 1_000_000_000
PERIOD = 1.0
"""Interval in seconds at which past seconds are discarded."""
WORKER = 0
"""The dispatcher assigns all users to it."""


class InProcessController:
    """The controller of a runner without other processes: it carries out all commands in this process.

    A test can be restarted after its end. It includes users that the program itself started with `spawn_users`.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._dispatcher: Dispatcher | None = None
        """None while there is no test."""
        self._ending: gevent.Greenlet[..., Any] | None = None
        self._ticker: gevent.Greenlet[..., Any] | None = None
        self._leaving: set[User] = set()
        """Users that are stopping but still exist."""
        self._departures = Group()
        """The greenlets that stop them."""
        self._epoch = now()
        environment.recorder.restart(self._epoch)
        environment.events.request.add_listener(RequestRecorder(environment.recorder))
        environment.events.user_error.add_listener(self._count_error)

    # Commands of the runner

    def start(self, users: int, rate: float, classes: Sequence[str] | None) -> None:
        runner = self._runner
        self._interrupt(runner.spawning_greenlet)
        runner.spawning_greenlet = runner.spawn(self._spawn, users, rate, classes)
        if self._ticker is None or self._ticker.dead:
            self._ticker = runner.spawn(self._tick)

    def stop(self) -> None:
        """Returns when the test has ended. Returns at once if a user calls it, because that user must end too."""
        self._stop(quit=False)

    def quit(self) -> None:
        """End the test and the background work of the runner. May also end the caller."""
        self._stop(quit=True)

    def send(self, type: str, data: Any, client_id: str | None) -> None:
        raise NotImplementedError("a LocalRunner has no other node to send to")

    def _count_error(self, user_instance: Any, exception: BaseException, tb: Any, **_: Any) -> None:
        self._runner.log_exception("local", str(exception), "".join(traceback.format_tb(tb)))

    # Starting users

    def _spawn(self, users: int, rate: float, classes: Sequence[str] | None) -> None:
        if self._ending is not None:
            self._ending.join()
        # Not by truth value: its length is the number of users.
        dispatcher = self._begin() if self._dispatcher is None else self._dispatcher
        if self._environment.host:
            for each in self._environment.user_classes:
                each.host = self._environment.host
        if classes is not None:
            dispatcher.choose(classes)
        logger.info("Ramping to %d users at a rate of %.2f per second", users, rate)
        missing = users - len(dispatcher)
        # A listener or a user's __init__ may stop or restart the test; another greenlet then takes over.
        steps = spread(dispatcher, missing, SpawnTimes(abs(missing), rate))
        while self._runner.spawning_greenlet is getcurrent():
            due = next(steps)
            self._adjust(dispatcher.counts()[WORKER])
            if due is None:
                self._departures.join()
                self._report_complete()
                return
            sleep_until(self._environment.hub, due)

    def _begin(self) -> Dispatcher:
        environment, runner = self._environment, self._runner
        environment.stats.clear_all()
        runner.exceptions = {}
        environment._filter_tasks_by_tags()
        environment.events.test_start.fire(environment=environment)
        classes = [UserClass(each.__name__, float(each.weight), each.fixed_count) for each in environment.user_classes]
        self._dispatcher = Dispatcher(classes, [WORKER])
        return self._dispatcher

    def _adjust(self, counts: Mapping[str, int]) -> None:
        """Start or stop users until each class has this many, not counting those that are stopping."""
        runner = self._runner
        present: dict[str, list[User]] = {name: [] for name in counts}
        for user in runner.users():
            if user not in self._leaving:
                present.setdefault(type(user).__name__, []).append(user)
        runner.state = STATE_SPAWNING
        surplus = [user for name, wanted in counts.items() for user in present[name][wanted:]]
        if surplus:
            self._leaving.update(surplus)
            self._departures.spawn(self._end, surplus)
        for name, wanted in counts.items():
            missing = max(0, wanted - len(present[name]))
            for done in range(0, missing, BATCH):
                if done:
                    # Let existing users process their replies in between.
                    gevent.sleep(0)
                runner.spawn_users({name: min(BATCH, missing - done)})

    def _report_complete(self) -> None:
        environment, runner = self._environment, self._runner
        counts = runner.target_user_classes_count = runner.user_classes_count
        logger.info("All users spawned: %s (%d total users)", json.dumps(counts), sum(counts.values()))
        runner.all_spawned()
        if environment.reset_stats:
            logger.info("Resetting stats")
            environment.stats.reset_all()
        self._fire(environment.events.spawning_complete, user_count=sum(counts.values()))

    # Stopping users

    def _stop(self, quit: bool) -> None:
        caller: Any = getcurrent()
        if self._ending is None and self._runner.state != STATE_STOPPED:
            self._ending = gevent.spawn(self._finish, caller)
        ending = self._ending
        if ending is caller or ending is None:
            # The caller is a listener of this end, or nothing is running.
            pass
        elif caller in self._runner.user_greenlets:
            if quit:
                ending.link(lambda _: self._runner.greenlet.kill(block=False))
            return
        else:
            ending.join()
        if quit:
            self._runner.greenlet.kill()

    def _finish(self, caller: Any) -> None:
        """caller: the greenlet that ends the test; it may have more to do."""
        environment, runner = self._environment, self._runner
        self._fire(environment.events.test_stopping, environment=environment)
        runner.final_user_classes_count = runner.user_classes_count
        runner.state = STATE_CLEANUP
        for work in (runner.spawning_greenlet, runner.shape_greenlet):
            if work is not caller:
                self._interrupt(work)
        runner.spawning_greenlet = runner.shape_greenlet = runner.shape_last_tick = None
        self._end(runner.users())
        self._departures.join()
        runner.user_greenlets.join()
        self._dispatcher = self._ending = None
        runner.state = STATE_STOPPED
        self._fire(environment.events.test_stop, environment=environment)

    def _end(self, users: Sequence[User]) -> None:
        try:
            end_users(users, self._environment.stop_timeout or 0.0)
        finally:
            self._leaving.difference_update(users)

    def _tick(self) -> None:
        """Discard each past second in the recorder, because nothing stores it. The sums stay."""
        while True:
            gevent.sleep(PERIOD)
            self._environment.recorder.take((now() - self._epoch) // SECOND)

    @property
    def _runner(self) -> Runner:
        runner = self._environment.runner
        assert runner is not None
        return runner

    def _interrupt(self, work: gevent.Greenlet[..., Any] | None) -> None:
        if work is not None and work is not getcurrent():
            work.kill()

    def _fire(self, event: EventHook, **arguments: Any) -> None:
        """Fire an event whose listeners cannot end the test."""
        try:
            event.fire(**arguments)
        except CONTROL_FLOW as reason:
            logger.error("%s: %s", type(reason).__name__, reason)
