"""The task loop: pick, execute, wait, until it is stopped."""

from __future__ import annotations

import logging
import traceback
from collections import deque
from random import choice, getrandbits, randint
from time import monotonic_ns, perf_counter
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, final

from gevent import GreenletExit

from plimsoll.users.code_errors import without_super
from plimsoll.users.exceptions import (
    InterruptTaskSet,
    MissingWaitTimeError,
    RescheduleTask,
    RescheduleTaskImmediately,
    StopTest,
    StopUser,
)
from plimsoll.users.hub import sleep_until, yield_to_others
from plimsoll.users.log import log_error
from plimsoll.users.state import RUNNING, STOPPING, WAITING
from plimsoll.users.tasks import collect_tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.users.user import IterationSource, User

logger = logging.getLogger("locust.user.task")

FOREVER = 10 * 365 * 86400 * 10**9
"""Length of an infinite wait in ns: until the user is stopped."""


class TaskSetMeta(type):
    """Collects the tasks of a TaskSet class."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> TaskSetMeta:
        namespace["tasks"] = mcs.collect(bases, namespace)
        return super().__new__(mcs, name, bases, namespace)

    @staticmethod
    def collect(bases: tuple[type, ...], namespace: dict[str, Any]) -> list[Callable[..., Any]]:
        return collect_tasks(bases, namespace)


class TaskSet(metaclass=TaskSetMeta):
    """A set of tasks of which one is picked at random, executed and followed by a wait, again and again.

    A TaskSet may itself be a task of a User or of another TaskSet. It then runs until `interrupt()`. Its wait_time, if
    it has one, is used instead of the user's.
    """

    tasks: list[Callable[..., Any]] = []  # noqa: RUF012 - locustfiles assign it like this
    """Functions and TaskSet classes. In a class body also {task: weight} or [(task, weight), …]; weights are written
    out when the class is made."""

    # Accepted for old locustfiles; without effect since Locust 1.0.
    min_wait: float | None = None
    max_wait: float | None = None
    wait_function: Callable[..., float] | None = None

    _quick_turns: Callable[[IterationSource | None], None]

    # Most users never schedule a task, and a deque takes 600 bytes: the first schedule_task() creates it.
    _task_queue: deque[Callable[..., Any]] | tuple[()] = ()

    def __init__(self, parent: User | TaskSet) -> None:
        self._parent = parent
        self._user: User = parent._user if isinstance(parent, TaskSet) else parent
        self._cp_last_run = perf_counter()
        self._cp_last_wait_time: float = 0

    @property
    def user(self) -> User:
        """The user that runs this TaskSet."""
        return self._user

    @property
    def parent(self) -> Any:
        """The TaskSet that runs this one as a task, or the user."""
        return self._parent

    @property
    def client(self) -> Any:
        """The client of the user."""
        return self._user.client  # type: ignore[attr-defined] # a plain User has none until its class makes one

    def on_start(self) -> None:
        """Called before the first task."""

    def on_stop(self) -> None:
        """Called after the last task: on interrupt() and when the user stops."""

    @final
    def run(self) -> NoReturn:
        """Execute tasks until an exception ends it.

        Raises RescheduleTaskImmediately or RescheduleTask after an interrupt (for the parent's loop), StopUser,
        StopTest or GreenletExit when the user is to end, and what a task raised if exceptions are not to be caught.
        """
        if not hasattr(self, "_user"):
            raise without_super(type(self), "parent")
        self._start()
        user = self._user
        slot = user._slot
        quick_turns = self._quick_turns if _is_unchanged(self) else None
        try:
            while True:
                try:
                    try:
                        if user._state == STOPPING:
                            raise StopUser
                        if quick_turns is None:
                            self.execute_next_task()
                        else:
                            quick_turns(slot)
                    except RescheduleTaskImmediately:
                        continue
                    except RescheduleTask:
                        pass
                    if slot is None or slot.waits_after(user):
                        self.wait()
                except (InterruptTaskSet, StopUser, StopTest):
                    raise
                except Exception as error:
                    self._report(error)
                    if not user.environment.catch_exceptions:
                        raise
                    # Also if wait_time failed. If it fails again, this TaskSet ends: without a wait the loop would
                    # spin.
                    if slot is None or slot.waits_after(user):
                        self.wait()
                if slot is not None:
                    slot.next_iteration(user)
        except InterruptTaskSet as interrupt:
            self._stop()
            raise _for_parent(interrupt) from interrupt
        except (StopUser, StopTest, GreenletExit):
            user._is_leaving = True
            self._stop()
            raise

    def _start(self) -> None:
        try:
            self.on_start()
        except InterruptTaskSet as interrupt:
            raise _for_parent(interrupt) from interrupt

    def _stop(self) -> None:
        try:
            self.on_stop()
        except (StopUser, StopTest):
            raise
        except Exception:
            logging.error("Uncaught exception in on_stop: \n%s", traceback.format_exc())

    def _report(self, error: Exception) -> None:
        environment = self._user.environment
        self._user._reported = error
        environment.events.user_error.fire(user_instance=self, exception=error, tb=error.__traceback__)
        if environment.catch_exceptions:
            log_error(logger, error)

    def execute_next_task(self) -> None:
        """Execute the first scheduled task, or else one that get_next_task() picks."""
        self.execute_task(self._task_queue.popleft() if self._task_queue else self.get_next_task())

    def execute_task(self, task: Callable[..., Any]) -> None:
        """Run one task: a function that takes the TaskSet, a nested TaskSet class, or a method bound to this one."""
        if type(task) is FunctionType:
            task(self)
        elif isinstance(task, TaskSetMeta):
            task(self).run()
        elif getattr(task, "__self__", None) is self:
            task()
        else:
            task(self)

    def schedule_task(self, task_callable: Callable[..., Any], first: bool = False) -> None:
        """Have a task executed before any is picked; first: also before those already scheduled."""
        if not isinstance(self._task_queue, deque):
            self._task_queue = deque()
        if first:
            self._task_queue.appendleft(task_callable)
        else:
            self._task_queue.append(task_callable)

    def get_next_task(self) -> Callable[..., Any]:
        """Pick one of `tasks`. Raises Exception when there are none."""
        tasks = self.tasks
        if not tasks:
            raise _no_tasks(self)
        # Locust's random function: the same random.seed() gives the same tasks.
        return choice(tasks)

    def wait_time(self) -> float:
        """Seconds between two tasks: the user's, unless a TaskSet has its own. Raises MissingWaitTimeError."""
        wait_time: Callable[[], float] | None = self._user.wait_time
        return _old_wait_time(self) if wait_time is None else wait_time()

    def wait(self) -> None:
        """Sleep for wait_time().

        Also callable within a task. A user that waits is stopped at once, even with a stop timeout; use gevent.sleep()
        for one that must finish its task. In the open model only tasks call it: between tasks a user waits for its next
        arrival.
        """
        user = self._user
        if user._state == STOPPING:
            raise StopUser
        seconds = self.wait_time()
        if seconds > 0:
            self._sleep(seconds)
        elif user._yielded:
            # Other users ran during this user's last exchange: another round would gain nothing.
            user._yielded = False
        else:
            user._state = WAITING
            if user._late is not None:
                user._due = user._late = 0
            yield_to_others()
            user._state = RUNNING

    def _sleep(self, seconds: float) -> None:
        """Wait between two tasks. Locust's class has this method, and scripts replace it."""
        _sleep(self._user, seconds)

    def interrupt(self, reschedule: bool = True) -> NoReturn:
        """Leave this TaskSet. reschedule: the parent picks its next task at once, else it waits first."""
        raise InterruptTaskSet(reschedule)


class DefaultTaskSet(TaskSet):
    """The root of every user: executes the tasks declared on the User class, with the user as their argument."""

    def get_next_task(self) -> Callable[..., Any]:
        tasks = self._user.tasks
        if not tasks:
            raise _no_tasks(self._user)
        return choice(tasks)

    def execute_task(self, task: Callable[..., Any]) -> None:
        if isinstance(task, TaskSetMeta):
            task(self._user).run()
        else:
            task(self._user)

    def _quick_turns(self, slot: IterationSource | None) -> None:
        """The same as execute_next_task and wait, again and again, in one frame for tasks that are functions. Returns
        after a task that is followed by another kind of wait.

        The open model waits in another way, and after a task without an exchange others have to run.
        """
        user = self._user
        count = bits = 0
        while user._state != STOPPING:
            tasks = user.tasks
            if self._task_queue or not tasks:
                self.execute_next_task()
                return
            # random.choice without its frames: it draws the same numbers.
            if count != len(tasks):
                count = len(tasks)
                bits = count.bit_length()
            index = getrandbits(bits)
            while index >= count:
                index = getrandbits(bits)
            task = tasks[index]
            if type(task) is FunctionType:
                task(user)
            else:
                self.execute_task(task)
            if slot is not None or not user._yielded or user._state == STOPPING:
                return
            seconds = user.wait_time()
            if seconds > 0:
                _sleep(user, seconds)
            else:
                user._yielded = False
        raise StopUser


_CALLED_IN_TURN = ("execute_next_task", "get_next_task", "execute_task", "wait", "wait_time", "_sleep")
_STEPS = {name: getattr(DefaultTaskSet, name) for name in _CALLED_IN_TURN}


def _is_unchanged(taskset: TaskSet) -> bool:
    """Whether a task set is the root of a user that has a wait time, with no step replaced by other code."""
    kind = type(taskset)
    is_own = kind is not DefaultTaskSet or any(getattr(kind, name) is not step for name, step in _STEPS.items())
    return not is_own and taskset.user.wait_time is not None


def _sleep(user: User, seconds: float) -> None:
    """Wait between two tasks, for a positive time."""
    user._state = WAITING
    try:
        length = int(seconds * 1e9)
    except OverflowError:
        length = FOREVER
    due = monotonic_ns() + length
    sleep_until(user.environment.hub, due)
    if user._late is None:
        # The arrival's first request is not sent yet: postpone its due time by the wait, and keep its lateness.
        user._due += length
        if user._free:
            user._free += length
    else:
        user._due = due
        user._late = max(0, monotonic_ns() - due)
    user._state = RUNNING


def _no_tasks(owner: TaskSet | User) -> Exception:
    hint = "; it has a 'task' attribute, maybe 'tasks' was meant" if getattr(owner, "task", None) else ""
    return Exception(
        f"No tasks defined on {type(owner).__name__}{hint}. Use the @task decorator or set the 'tasks' attribute "
        "(a class that is only a base for others says abstract = True)."
    )


def _old_wait_time(taskset: TaskSet) -> float:
    """For `wait_time = None`: a wait within the old limits, in ms."""
    user = taskset.user
    least = taskset.min_wait or user.min_wait
    most = taskset.max_wait or user.max_wait
    if least is None or most is None:
        raise MissingWaitTimeError(f"Neither {type(user).__name__} nor {type(taskset).__name__} has a wait_time")
    return randint(int(least), int(most)) / 1000


def _for_parent(interrupt: InterruptTaskSet) -> Exception:
    return RescheduleTaskImmediately() if interrupt.reschedule else RescheduleTask()
