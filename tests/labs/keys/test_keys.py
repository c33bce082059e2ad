"""What may be done to a key's version, and in what order the upstream does what it is asked."""

import asyncio
import statistics

import pytest
from labs.keys.target.keys import KeyRing, PreconditionError, State
from labs.keys.target.upstream import Call, Upstream


def test_an_uploaded_key_has_one_enabled_version() -> None:
    ring = KeyRing()
    assert [ring.upload().id for _ in range(3)] == [1, 2, 3]
    assert len(ring) == 3
    (version,) = ring.key(2).versions
    assert version.name.endswith("/key-2/cryptoKeyVersions/1")
    assert version.state is State.ENABLED
    for id, number in ((4, 1), (1, 2), (1, 0)):
        with pytest.raises(KeyError):
            ring.version(id, number)


def test_a_version_is_destroyed_once_and_again_only_after_it_was_restored() -> None:
    ring = KeyRing()
    version = ring.upload().versions[0]
    version.become(State.DESTROY_SCHEDULED)
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

    async def user(upstream: Upstream, number: int) -> None:
        await upstream.call(Call.UPLOAD)
        done.append(number)

    async def all_at_once(upstream: Upstream) -> None:
        await asyncio.gather(*(user(upstream, number) for number in range(20)))

    sleeps = Sleeps()
    asyncio.run(all_at_once(Upstream(0.1, sleep=sleeps)))
    assert done == list(range(20))
    assert (len(sleeps.durations), sleeps.most) == (20, 1)


def test_a_destruction_does_not_wait_for_the_lane() -> None:
    async def both(upstream: Upstream) -> None:
        await asyncio.gather(*(upstream.call(Call.GET) for _ in range(3)), *(upstream.destroy() for _ in range(4)))

    sleeps = Sleeps()
    asyncio.run(both(Upstream(0.1, sleep=sleeps)))
    assert sleeps.most == 1 + 4


def test_calls_take_on_average_what_they_did_in_the_report_at_the_scale() -> None:
    async def many(upstream: Upstream) -> None:
        for _ in range(5000):
            await upstream.call(Call.PATCH)

    sleeps, again = Sleeps(), Sleeps()
    asyncio.run(many(Upstream(0.1, sleep=sleeps)))
    asyncio.run(many(Upstream(0.1, sleep=again)))
    assert statistics.mean(sleeps.durations) == pytest.approx(18 / 246, rel=0.02)
    assert min(sleeps.durations) > 0
    assert sleeps.durations == again.durations
