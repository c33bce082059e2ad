"""What is stored of runs on two workers, of which one was lost and another one has taken its place: 60 arrivals/s."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.run.joined import stored_facts, stored_health

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

RATE = ("--rate", "60/s")


def offered(plimsoll: Command) -> dict[int, Counter[int]]:
    """Arrivals by worker and second."""
    found: dict[int, Counter[int]] = {0: Counter(), 1: Counter()}
    for row in stored_health(plimsoll):
        found[row.worker][row.second] += row.offered
    return found


def whole_since(plimsoll: Command, silent: int) -> int:
    """Seconds in which both workers had their arrivals, after one in which one of them had none."""
    found = offered(plimsoll)
    idle = [second for second in found[1 - silent] if not found[silent][second]]
    return sum(1 for second, count in found[silent].items() if idle and second > idle[0] and count == 30)


def lost(plimsoll: Command) -> int:
    """The worker that has reported least."""
    seconds = Counter(row.worker for row in stored_health(plimsoll))
    return min((0, 1), key=seconds.__getitem__)


def check_replaced(plimsoll: Command, target: CountingTarget, action: str) -> tuple[int, int]:
    """All counts are exact but for the seconds that are named. action: upon the loss. Returns the place of the lost
    worker, and the first second of the new one."""
    facts = stored_facts(plimsoll)
    (missing,), (replaced,) = facts["incomplete"], facts["replaced"]
    place, begin = replaced["worker"], replaced["to_second"]
    assert (missing["worker"], facts["lost_workers"]) == (place, 1)
    assert missing["from_second"] < missing["to_second"] <= begin
    found = offered(plimsoll)
    last = max(found[place])
    for second in (*range(missing["from_second"]), *range(begin, last)):
        assert [found[worker][second] for worker in (0, 1)] == [30, 30], (second, found)
    assert not any(found[place][second] for second in range(missing["from_second"], begin))
    # Others have its arrivals from the first second on that is wholly theirs.
    others = [found[1 - place][second] for second in range(missing["to_second"] + 1, begin)]
    assert set(others) <= {60 if action == "redistribute" else 30}
    unreported = target.total - plimsoll.stored()["total"]["requests"]
    assert 0 <= unreported <= 30 * (missing["to_second"] - missing["from_second"])
    check = next(each for each in plimsoll.stored()["validity"]["checks"] if each["name"] == "workers")
    load = {"mark": "nobody sends its arrivals", "redistribute": "the others take its load over"}[action]
    assert f"; {load}; another one took its place with second {begin}; " in check["text"]
    return place, begin
