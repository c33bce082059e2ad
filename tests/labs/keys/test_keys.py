"""What may be done to a key's version, and in what order the cloud service does what it is asked."""

import asyncio
import statistics

import pytest
from labs.keys.cloud.keys import KeyRing, PreconditionError, State
from labs.keys.cloud.lane import Call, Lane

RING = "projects/lab/locations/global/keyRings/lab"


def test_a_key_is_created_without_versions_and_each_import_adds_one() -> None:
    ring = KeyRing(RING)
    key = ring.create("key-1")
    assert (key.name, key.versions, len(ring)) == (f"{RING}/cryptoKeys/key-1", [], 1)
    version = key.import_begins()
    assert (version.name, version.state) == (f"{key.name}/cryptoKeyVersions/1", State.PENDING_IMPORT)
    assert ring.version(version.name) is version
    for name in (
        f"{key.name}/cryptoKeyVersions/2",
        f"{key.name}/cryptoKeyVersions/0",
        f"{key.name}/cryptoKeyVersions/x",
        key.name,
        "x",
    ):
        with pytest.raises(KeyError):
            ring.version(name)
    with pytest.raises(PreconditionError, match="exists already"):
        ring.create("key-1")


def test_a_version_is_destroyed_once_and_again_only_after_it_was_restored() -> None:
    version = KeyRing(RING).create("key-1").import_begins()
    with pytest.raises(PreconditionError):
        version.become(State.DESTROY_SCHEDULED)
    for state in (State.IMPORT_FAILED, State.PENDING_IMPORT, State.ENABLED, State.DESTROY_SCHEDULED):
        version.become(state)
    with pytest.raises(PreconditionError, match="is DESTROY_SCHEDULED, from where it cannot become DESTROY_SCHEDULED"):
        version.become(State.DESTROY_SCHEDULED)
    with pytest.raises(PreconditionError):
        version.become(State.ENABLED)
    for state in (State.DISABLED, State.ENABLED, State.DISABLED, State.DESTROY_SCHEDULED):
        version.become(state)
    assert version.state is State.DESTROY_SCHEDULED


class Sleeps:
    """A sleep that takes one turn of the loop, and notes what went on at the same time."""

    def __init__(self) -> None:
        self.durations: list[float] = []
        self.asleep = 0
        self.most = 0

    async def __call__(self, seconds: float) -> None:
        self.durations.append(seconds)
        self.asleep += 1
        self.most = max(self.most, self.asleep)
        await asyncio.sleep(0)
        self.asleep -= 1


def test_the_lane_is_taken_by_one_call_at_a_time_in_their_order() -> None:
    done: list[int] = []

    async def user(lane: Lane, number: int) -> None:
        await lane.call(Call.IMPORT)
        done.append(number)

    async def all_at_once(lane: Lane) -> None:
        await asyncio.gather(*(user(lane, number) for number in range(20)))

    sleeps = Sleeps()
    asyncio.run(all_at_once(Lane(0.1, sleep=sleeps)))
    assert done == list(range(20))
    assert (len(sleeps.durations), sleeps.most) == (20, 1)


def test_a_destruction_does_not_wait_for_the_lane() -> None:
    async def both(lane: Lane) -> None:
        await asyncio.gather(*(lane.call(Call.GET) for _ in range(3)), *(lane.destroy() for _ in range(4)))

    sleeps = Sleeps()
    asyncio.run(both(Lane(0.1, sleep=sleeps)))
    assert sleeps.most == 1 + 4


def test_calls_take_on_average_what_they_did_in_the_report_at_the_scale() -> None:
    async def many(lane: Lane) -> None:
        for _ in range(5000):
            await lane.call(Call.UPDATE)

    sleeps, again = Sleeps(), Sleeps()
    asyncio.run(many(Lane(0.1, sleep=sleeps)))
    asyncio.run(many(Lane(0.1, sleep=again)))
    assert statistics.mean(sleeps.durations) == pytest.approx(18 / 246, rel=0.02)
    assert min(sleeps.durations) > 0
    assert sleeps.durations == again.durations
