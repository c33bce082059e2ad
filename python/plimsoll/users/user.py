"""A simulated client: its class defines its behaviour, its greenlet runs it."""

from __future__ import annotations

import logging
import warnings
from time import perf_counter
from typing import TYPE_CHECKING, Any, final

from gevent import GreenletExit

from plimsoll.errors import LocustfileError
from plimsoll.users import log
from plimsoll.users.code_errors import without_super
from plimsoll.users.exceptions import CONTROL_FLOW, StopTest, StopUser
from plimsoll.users.log import log_error
from plimsoll.users.rest import GrpcMixin, RestMixin
from plimsoll.users.state import RUNNING, STOPPING, WAITING, Pacer
from plimsoll.users.tasks import collect_tasks
from plimsoll.users.taskset import DefaultTaskSet
from plimsoll.users.wait_time import constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Protocol

    from gevent import Greenlet
    from gevent.pool import Group

    from plimsoll.users.events import Events
    from plimsoll.users.http.session import HttpSession
    from plimsoll.users.hub import Hub

    class UserEnvironment(Protocol):
        """The environment that a user needs; the same for every user of a process. Locust's Environment is one."""

        events: Events
        catch_exceptions: bool
        """Report an exception of a task and continue; else the exception ends the user."""
        stop_timeout: float
        """Seconds in which running tasks may finish before their users are killed."""
        runner: Any
        """Has `quit()`, which ends the test; None outside of a test."""

        @property
        def hub(self) -> Hub:
            """The engine in this thread's event loop."""

    class IterationSource(Protocol):
        """Decides when a user may begin an iteration: arrivals of the open model, or a number of iterations."""

        def waits_after(self, user: User) -> bool:
            """The user's iteration is over. Returns whether it waits for its wait_time before it asks for the next."""

        def next_iteration(self, user: User) -> None:
            """Return when the user may begin an iteration. Raises StopUser if it must end instead."""


logger = logging.getLogger("locust.user.users")


def check_for_deprecated_task_set_attribute(class_dict: Mapping[str, Any]) -> None:
    """Warns of a new User class with `task_set`, the name before Locust 1.0."""
    if "task_set" in class_dict:
        name = class_dict.get("__qualname__", "User").rpartition(".")[2]
        warnings.warn(f"{name}.task_set has no effect: say tasks = [...] instead", DeprecationWarning, stacklevel=3)


class UserMeta(type):
    """Collects the tasks of a User class, and makes it concrete unless its own body says `abstract = True`."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> UserMeta:
        namespace["tasks"] = collect_tasks(bases, namespace)
        namespace.setdefault("abstract", False)
        check_for_deprecated_task_set_attribute(namespace)
        return super().__new__(mcs, name, bases, namespace)


class User(Pacer, metaclass=UserMeta):
    """A user with tasks but without a client; a base for custom clients."""

    host: str | None = None
    """Base URL of the target. One given on the command line is set here before users are made."""

    wait_time: Callable[..., float] = constant(0)
    """Method that returns the seconds between two tasks."""

    tasks: list[Callable[..., Any]] = []  # noqa: RUF012 - locustfiles assign it like this
    """Functions and TaskSet classes. In a class body also {task: weight} or [(task, weight), …]; weights are written
    out when the class is made."""

    weight: float = 1
    """How many users of this class there are in proportion to other classes; >= 0."""

    fixed_count: int = 0
    """> 0: the exact number of users of this class, which are spawned first. The weight has no effect then."""

    max_spawn_rate: float | None = None
    """At most so many users of this class are started per second, in a closed-model run; > 0. None: only the spawn rate
    of all users counts."""

    abstract: bool = True
    """A base for other classes, of which no user is spawned."""

    thresholds: Sequence[str] = ()
    """What a run with users of this class must meet, such as "p99 < 200ms"; like those of the command line."""

    source_address: str | Sequence[str] | None = None
    """Local IP address that the connections of these users come from. Several: each user gets one of them, in turn, and
    keeps it. None: what --source-address says, or the system."""

    # Accepted for old locustfiles; without effect since Locust 1.0.
    min_wait: float | None = None
    max_wait: float | None = None
    wait_function: Callable[..., float] | None = None

    _slot: IterationSource | None = None
    """Set before the start of a user whose iterations come from this source; None: one after the other."""

    # Of the class: a class may set its environment in its own `__init__` without calling ours.
    _greenlet: Greenlet[..., Any] | None = None
    _group: Group | None = None
    _taskset_instance: DefaultTaskSet | None = None
    _reported: BaseException | None = None
    """The last exception that listeners of `user_error` got."""
    _is_leaving = False
    """Its last task is over; on_stop follows."""

    def __init__(self, environment: UserEnvironment) -> None:
        super().__init__()
        self.environment = environment
        self._cp_last_run = perf_counter()
        self._cp_last_wait_time: float = 0
        # All that is set later, too: CPython gives the objects of a class a common table of names, and adds none to it
        # once some thirty objects exist. An object with another name then gets a dict of its own.
        self._slot = self._greenlet = self._group = self._taskset_instance = None

    def on_start(self) -> None:
        """Called when the user starts."""

    def on_stop(self) -> None:
        """Called when the user stops, also when it is killed."""

    @final
    def run(self) -> None:
        """Live: on_start, tasks until stopped, on_stop. What on_start raises ends the user and is raised again."""
        self._state = RUNNING
        self._taskset_instance = DefaultTaskSet(self)
        try:
            self._start()
            if self._slot is not None:
                self._slot.next_iteration(self)
            self._taskset_instance.run()
        except (GreenletExit, StopUser):
            self.on_stop()
        except StopTest as reason:
            self.on_stop()
            self._stop_test(reason)

    def _start(self) -> None:
        try:
            self.on_start()
        except (StopUser, StopTest):
            raise
        except Exception as error:
            log_error(logger, error)
            self._reported = error
            self.environment.events.user_error.fire(user_instance=self, exception=error, tb=error.__traceback__)
            raise

    def _stop_test(self, reason: StopTest) -> None:
        logger.error("%s", reason)
        logger.warning("Stopping the test: %s raised StopTest", type(self).__name__)
        if self.environment.runner is not None:
            self.environment.runner.quit()

    def wait(self) -> None:
        """Sleep for wait_time(), from within a task. A user that waits is stopped at once, even with a stop timeout."""
        if self._taskset_instance is None:
            raise RuntimeError("A user can wait only while it runs")
        self._taskset_instance.wait()

    def start(self, group: Group) -> Greenlet[..., Any]:
        """Run in a new greenlet of group, which is returned."""
        self._group = group
        self._greenlet = group.spawn(_run, self)
        return self._greenlet

    def stop(self, force: bool = False) -> bool:
        """Stop gracefully: at once while waiting, else after the running task. force: at once, in mid-task.

        True when the user is dead, which includes its on_stop; False when it has only been asked to stop. Asking twice
        changes nothing.
        """
        if force or self._state in (None, WAITING):
            if self._group is not None and self._greenlet is not None:
                # Code that catches the kill, in a bare `except:`, ends with its task.
                self._state = STOPPING
                self._group.killone(self._greenlet)
            return True
        self._state = STOPPING
        return False

    @property
    def group(self) -> Group | None:
        return self._group

    @property
    def greenlet(self) -> Greenlet[..., Any] | None:
        return self._greenlet

    def context(self) -> dict[str, Any]:
        """What to add to the `context` of every request event of this user."""
        return {}

    @classmethod
    def import_client(cls) -> None:
        """Import what the first user of this class would import on creation."""

    @classmethod
    def json(cls) -> dict[str, Any]:
        """The class, as far as JSON can hold it."""
        return {
            "host": cls.host,
            "weight": cls.weight,
            "fixed_count": cls.fixed_count,
            "tasks": [task.__name__ for task in cls.tasks],
        }

    @classmethod
    def fullname(cls) -> str:
        """Module and name, without the functions that the class was defined in."""
        return ".".join(part for part in f"{cls.__module__}.{cls.__qualname__}".split(".") if part != "<locals>")


def _run(user: User) -> None:
    # A function of one argument: runners get from a greenlet to its user by `greenlet.args[0]`.
    try:
        user.run()
    except CONTROL_FLOW:
        # An interrupt outside of a TaskSet ends the user, as in Locust, and is no error.
        raise
    except Exception as error:
        if not _is_reported(error, user):
            _count_death(user, error)
        raise
    finally:
        # gevent would do so only in its next turn: each of several users that end in one turn must see the others gone.
        if user._group is not None and user._greenlet is not None:
            user._group.discard(user._greenlet)


def _is_reported(error: BaseException, user: User) -> bool:
    """Whether listeners of `user_error` got this error, or it arose while they handled it."""
    cause: BaseException | None = error
    while cause is not None and cause is not user._reported:
        cause = cause.__context__
    return cause is not None


def _count_death(user: User, error: Exception) -> None:
    """Nothing else counts this: gevent prints the traceback, the flag sets the exit code."""
    logger.critical("a user of %s died outside of its tasks: %r", type(user).__name__, error)
    log.unhandled_greenlet_exception = True


class HttpUser(User, RestMixin[Any], GrpcMixin):
    """A user whose `client` behaves like a requests.Session with `host` in front of every path."""

    abstract = True

    pool_manager: Any = None
    """Accepted and unused: the engine keeps separate connections for each user."""
    http2: bool = False
    """Speak HTTP/2, and nothing else."""
    users_per_connection: int = 1
    """With HTTP/2: how many users of this class share a connection."""

    client: HttpSession

    @classmethod
    def import_client(cls) -> None:
        import plimsoll.users.http.session  # noqa: F401

    def __init__(self, environment: UserEnvironment) -> None:
        super().__init__(environment)
        host = required_host(self)
        from plimsoll.users.http.session import HttpSession

        self.client = HttpSession(base_url=host, request_event=environment.events.request, user=self)
        # The load must not depend on proxy variables and .netrc of the person who starts it.
        self.client.trust_env = False


def http2_classes(classes: Iterable[type]) -> dict[str, int]:
    """The classes of users that speak HTTP/2, each with its users of a connection. Raises LocustfileError."""
    found = {}
    for each in classes:
        if getattr(each, "http2", False):
            most = found[each.__name__] = getattr(each, "users_per_connection", 1)
            if not isinstance(most, int) or most < 1:
                raise LocustfileError(f"{each.__name__}.users_per_connection must be a number of at least 1: {most!r}")
    return found


def make_user(cls: type[User], environment: UserEnvironment) -> User:
    """A user of this class. Raises LocustfileError for one without an environment, and what its `__init__` raises."""
    user = cls(environment)
    if not hasattr(user, "environment"):
        raise without_super(cls, "environment")
    return user


def required_host(user: User) -> str:
    """The host of a user that needs one. Raises StopTest."""
    if user.host is None:
        raise StopTest(
            "You must specify the base host. Either in the host attribute in the User class, or on the command line "
            "using the --host option."
        )
    return user.host
