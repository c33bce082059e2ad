"""Proves a scenario in three passes: one user, a second one with fresh values, and ten users at once.

The second user shows that nothing of the first one is in the scenario, and ten users that they share nothing by
mistake. A pass runs only if the one before it proved every step.
"""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll.sources.proof.passes import ProofRunner, StepProof, one_pass
from plimsoll.sources.proof.people import ids_in_paths, more_people
from plimsoll.sources.proof.stale import shared_value, stale_value

if TYPE_CHECKING:
    from plimsoll.sources.draft import ScenarioDraft

SEVERAL_USERS = 10
ONE_USER, SECOND_USER, TOGETHER = "one user", "a second user", f"{SEVERAL_USERS} users at once"
_USERS = {ONE_USER: 1, SECOND_USER: 1, TOGETHER: SEVERAL_USERS}
PASSES = tuple(_USERS)
_OWN_ERROR = re.compile(r"status (5\d\d)\b")
TIMES_SENT = sum(_USERS.values())
"""How often a proof sends the whole scenario if all goes well."""


@dataclass(frozen=True, slots=True)
class ScenarioProof:
    """How the steps of a scenario went, in the pass that did not prove all of them, or in the last one."""

    steps: tuple[StepProof, ...]
    last_pass: str
    """One of PASSES."""
    explanation: str = ""
    """Why the first step that differs does so; "" if that is unknown."""
    people: dict[str, list[str]] = field(default_factory=dict)
    """The rows with which several users proved it, in place of the recorded ones; empty if those would do."""

    @property
    def is_whole(self) -> bool:
        """Every step is proven in every pass."""
        return all(proof.state == "proven" for proof in self.steps)

    @property
    def proven(self) -> int:
        """How many steps the last pass proved."""
        return sum(proof.state == "proven" for proof in self.steps)

    @property
    def passed(self) -> tuple[str, ...]:
        """The passes that proved every step."""
        return PASSES if self.is_whole else PASSES[: PASSES.index(self.last_pass)]


def prove(draft: ScenarioDraft, runner: ProofRunner | None = None) -> ScenarioProof:
    """The proof of a scenario. It sends the whole scenario `TIMES_SENT` times if all goes well. Raises PlimsollError if
    no run came about."""
    runner = runner or ProofRunner()
    steps: tuple[StepProof, ...] = ()
    for name in PASSES:
        replayed = _as_second_person(draft) if name == SECOND_USER else draft
        steps = tuple(one_pass(replayed, _USERS[name], runner))
        people: dict[str, list[str]] = {}
        number = _first_differing(steps)
        rows = more_people(draft.data, 2 * SEVERAL_USERS, ids_in_paths(draft)) if name == TOGETHER else {}
        # Names, slugs and addresses may have to be unique. The recorded ones are taken by now, if nothing deletes them.
        for part in (slice(SEVERAL_USERS), slice(SEVERAL_USERS, None)) if rows else ():
            if number is None:
                break
            new = {column: values[part] for column, values in rows.items()}
            again = tuple(one_pass(replace(draft, data=new), SEVERAL_USERS, runner))
            if (now := _first_differing(again)) is None or now > number:
                steps, number, people = again, now, new
        if number is not None:
            return ScenarioProof(steps, name, _explanation(draft, replayed, steps, number, name, runner), people)
        if people:
            return ScenarioProof(steps, name, people=people)
        if any(proof.state != "proven" for proof in steps):
            return ScenarioProof(steps, name)
    return ScenarioProof(steps, TOGETHER)


def _first_differing(steps: tuple[StepProof, ...]) -> int | None:
    return next((number for number, proof in enumerate(steps) if proof.state == "differs"), None)


def _explanation(
    draft: ScenarioDraft, replayed: ScenarioDraft, steps: tuple[StepProof, ...], number: int, name: str,
    runner: ProofRunner,
) -> str:  # fmt: skip
    """Why a step differs; "" if that is unknown. replayed: the scenario as the pass with this name has sent it."""
    if (status := _OWN_ERROR.match(steps[number].why)) and name != ONE_USER:
        return f"step {number + 1} worked for one user; status {status[1]} is an error of the target: its log says why"
    explanation = stale_value(replayed, number, runner)
    if not explanation and name != ONE_USER:
        explanation = shared_value(draft, number, 2 if name == SECOND_USER else SEVERAL_USERS)
    return explanation


def _as_second_person(draft: ScenarioDraft) -> ScenarioDraft:
    """The scenario that begins with the second row of the recorded people."""
    second = deepcopy(draft)
    second.data = {name: [*values[1:], *values[:1]] for name, values in draft.data.items()}
    return second
