"""The `Script` of a worker whose users are native: they have no code, so nothing of Locust is loaded for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.run.dispatch import NATIVE_USER, UserClass
from plimsoll.run.worker.native import NativePopulation
from plimsoll.run.worker.schedule import ArrivalSchedule
from plimsoll.run.worker.script import Script

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plimsoll._engine import Engine, Recorder
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.transport.frames import Report
    from plimsoll.run.worker.caught import CaughtExceptions
    from plimsoll.run.worker.script import ProcessPlace
    from plimsoll.users.hub import Hub


class NativeScript(Script):
    """Native users of a plan's scenario, in the closed and in the open model."""

    def __init__(
        self, plan: RunPlan, place: ProcessPlace, engine: Engine, hub: Hub, recorder: Recorder, caught: CaughtExceptions
    ) -> None:
        """The arguments are those of every `ScriptFactory`."""
        self.classes: list[UserClass] = []
        self.thresholds: list[str] = []
        self.shaped = False
        self._plan = plan
        self._place = place
        self._engine = engine
        self._recorder = recorder

    def join(self, tell: Callable[[Report], None], leave: Callable[[], None]) -> None:
        pass

    def open(self, plan: RunPlan, shared: bytes | None) -> bytes | None:
        """Make the users. Raises UsageError for a scenario that cannot be played."""
        self._plan = plan
        self.classes = [UserClass(NATIVE_USER)]
        self._users = NativePopulation(self._engine, self._recorder, plan, self._place.index, self._place.workers)
        self._schedule = ArrivalSchedule(plan, self._place) if plan.is_open else None
        return None

    def begin(self, epoch: int, first: int) -> None:
        if self._schedule is not None:
            self._schedule.begin(self._users, epoch, first)

    def adjust(self, counts: Mapping[str, int]) -> None:
        self._users.adjust(counts)

    def offer(self, rate: float, start: int, seconds: float | None) -> None:
        assert self._schedule is not None
        self._schedule.offer(self._users, rate, start, seconds)

    def assign(self, shares: Sequence[tuple[int, int]], start: int) -> None:
        assert self._schedule is not None
        self._schedule.assign(self._users, shares, start)

    def spawned(self, users: int) -> None:
        pass

    def reset(self) -> None:
        pass

    def receive(self, kind: str, arguments: Sequence[Any]) -> None:
        pass

    def counts(self) -> dict[str, int]:
        return self._users.counts()

    @property
    def population(self) -> NativePopulation:
        return self._users

    def announce_end(self) -> None:
        pass

    def end_users(self) -> None:
        self._users.drain(self._plan.stop_timeout)

    def stop(self) -> None:
        self._users.stop()

    def close(self, failed: bool) -> tuple[int | None, int, bool]:
        return None, self._plan.exit_code_on_error, False
