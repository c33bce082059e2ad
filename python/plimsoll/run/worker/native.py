"""Native users: they play a scenario in Rust, without Python."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import gevent

from plimsoll._engine import NativeUsers, Scenario, now
from plimsoll.errors import UsageError
from plimsoll.load.guard_rails import HEADER
from plimsoll.run.dispatch import NATIVE_USER
from plimsoll.run.limits import share, share_of
from plimsoll.run.worker.script import Population

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plimsoll._engine import Arrivals, Engine, Recorder
    from plimsoll.run.plan import RunPlan

_LOOK = 0.005


def identified(plan: RunPlan) -> dict[str, Any]:
    """The scenario of a plan, with targets whose requests say who sends them, if they are to."""
    scenario = plan.scenario or {}
    if plan.header is None:
        return scenario
    line = [HEADER, plan.header.replace("${", "$${")]
    targets = [{**target, "headers": [*(target.get("headers") or ()), line]} for target in scenario["targets"]]
    auths = [
        {kind: {**fields, "headers": [*fields["headers"], line]} if kind == "oauth2" else fields}
        for auth in scenario.get("auths", ())
        for kind, fields in auth.items()
    ]
    return {**scenario, "targets": targets, "auths": auths}


class NativePopulation(Population):
    """The native users of worker `index` of `of`, in the closed and in the open model."""

    def __init__(self, engine: Engine, recorder: Recorder, plan: RunPlan, index: int, of: int) -> None:
        """Raises UsageError for a scenario that cannot be played."""
        try:
            scenario = Scenario(json.dumps(identified(plan)), index=index, of=of, seed=plan.seed)
        except ValueError as error:
            raise UsageError(f"{plan.source}: {error}") from error
        load = plan.load
        loaded = of if plan.is_open else max(1, min(of, plan.most_users))
        # Of the closed model, workers without a user have nothing to do.
        iterations = share_of(load.iterations if load else None, index, loaded)
        requests = share_of(load.requests if load else None, index, loaded)
        self._users = NativeUsers(
            engine,
            recorder,
            scenario,
            max_users=max(1, share(plan.most_users, index, of)),
            drop=load is not None and load.on_saturation == "drop",
            iterations=iterations,
            requests=requests,
            users_per_connection=plan.users_per_connection,
        )
        self._open = plan.is_open
        self._has_none = 0 in (iterations, requests)
        """Nothing may begin here: what there is, others have."""
        self._cut = False

    def adjust(self, counts: Mapping[str, int]) -> None:
        self._users.resize(counts[NATIVE_USER])

    def arrive(self, arrivals: Arrivals, start: int) -> None:
        self._users.arrive(arrivals, start)

    def arrive_instead(self, streams: Iterable[tuple[Arrivals, int]], stamp: int) -> None:
        self._users.end_arrivals(stamp)
        for each in streams:
            self.arrive(*each)

    def counts(self) -> dict[str, int]:
        # In the open model an idle user is one too: it keeps its connection for the next arrival.
        return {NATIVE_USER: self._users.users if self._open else self._users.active}

    @property
    def waiting(self) -> int:
        return self._users.waiting

    @property
    def authorizing(self) -> int:
        return self._users.authorizing

    @property
    def done(self) -> bool:
        return self._users.done or (self._has_none and not self._users.active)

    @property
    def failure(self) -> str | None:
        return self._users.failure

    @property
    def ended_feeder(self) -> str | None:
        return self._users.ended_feeder

    def drain(self, timeout: float) -> None:
        self._users.stop()
        end = now() + round(timeout * 1e9)
        while not self._users.done and now() < end and not self._cut:
            gevent.sleep(_LOOK)
        self._users.cut()

    def stop(self) -> None:
        self._cut = True
