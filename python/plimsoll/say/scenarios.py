"""What is said of a new scenario and of its proof, in a terminal and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.names import listed
from plimsoll.say.numbers import count, counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def scenario_made(steps: int, taken: int, left_out: Mapping[str, int]) -> str:
    """What a scenario was made of. taken: values that steps take from replies. left_out: the number of requests that
    are no steps, by reason."""
    requests = steps + sum(left_out.values())
    parts = [f"{counted(steps, 'step')} of {counted(requests, 'request')}"]
    if taken:
        parts.append(f"{counted(taken, 'value')} taken from replies")
    if left_out:
        reasons = ", ".join(f"{number} {reason}" for reason, number in left_out.items())
        parts.append(f"{sum(left_out.values())} left out: {reasons}")
    return f"{'; '.join(parts)}."


def file_not_written(name: str) -> str:
    """name: of a file with values that the plan reads."""
    return f"The plan reads {name}, which is only written with -o FILE."


def proof_offer(times: int, together: int) -> str:
    """times: how often a proof sends the whole scenario. together: users of its last pass."""
    return (
        f"A proof sends the scenario {count(times)} times: as one user, as a second user and as "
        f"{count(together)} users at once. Each reply must be as recorded."
    )


def proof_result(proven: int, total: int, passed: Sequence[str], last_pass: str, *, is_whole: bool) -> str:
    """proven: steps of the last pass that are. passed: the passes that proved every step. last_pass: the pass that did
    not, or the last one."""
    steps = counted(total, "step")
    if is_whole:
        return f"Proof: {proven} of {steps} proven by {listed(passed, 'and')}."
    if passed:
        return f"Proof: every step proven by {listed(passed, 'and')}, {proven} of {steps} by {last_pass}."
    return f"Proof: {proven} of {steps} proven by {last_pass}."
