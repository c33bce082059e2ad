"""Users in the open model: who begins which arrival, what waits and what is dropped."""

from __future__ import annotations

from collections import Counter
from itertools import chain, groupby, islice

import gevent
import pytest
from gevent.event import Event
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.run.open_population import LONG_NS, blocking_user_class, due_time_user_class, settle, until
from tests.users.pacing import due_of, end_exchange

from plimsoll._engine import now
from plimsoll.errors import UsageError
from plimsoll.locust.api import Environment
from plimsoll.run.dispatch import by_weight
from plimsoll.users.exceptions import StopUser
from plimsoll.users.tasks import task
from plimsoll.users.user import User


def test_each_arrival_is_offered_and_begun_once_with_its_own_due_time(open_population) -> None:
    seen: list[int] = []
    each = open_population(due_time_user_class(seen), max_users=1)
    each.serve([0, 5, 5, 7])
    assert seen == [each.start + due for due in (0, 5, 5, 7)]
    assert each.ledger.offered_at == seen


def test_an_arrival_begins_when_it_is_due_and_not_before(open_population) -> None:
    late: list[int] = []

    class Shopper(User):
        @task
        def buy(self) -> None:
            late.append(now() - due_of(self))

    each = open_population(Shopper)
    each.users.arrive(iter([0, 5_000_000, 5_000_001, 20_000_000]), now())
    until(lambda: each.users.done)
    assert len(late) == 4
    assert min(late) >= 0


def test_an_idle_user_takes_the_arrival_and_of_several_the_one_busy_last(open_population) -> None:
    holder = blocking_user_class()
    each = open_population(holder)
    for _ in range(3):
        each.arrive_one()
    assert holder.busy() == [0, 1, 2]
    for number in (1, 2, 0):
        holder.let_go(number)
    each.arrive_one()
    each.arrive_one()
    assert holder.busy() == [0, 2]
    assert each.users.counts() == {"Holder": 3}


def test_users_are_made_up_to_the_limit_and_then_arrivals_wait_in_order(open_population) -> None:
    holder = blocking_user_class()
    each = open_population(holder, max_users=2)
    each.arrive(range(5))
    until(lambda: each.users.begun == 2)
    assert each.users.counts() == {"Holder": 2}
    assert (each.users.busy, each.users.waiting) == (2, 3)
    dues = []
    for number in (0, 0, 1):
        holder.let_go(number)
        dues += [due_of(user) - each.start for user, _ in holder.inside[-1:]]
    assert dues == [2, 3, 4]
    each.check()


def test_no_more_users_are_on_their_way_than_arrivals_wait_for(open_population) -> None:
    holder = blocking_user_class()
    each = open_population(holder, max_users=10)
    each.arrive(4)
    until(lambda: each.users.begun == 4)
    assert each.users.counts() == {"Holder": 4}


def test_a_user_who_is_still_on_its_way_serves_for_the_next_arrival_too(open_population) -> None:
    ready = Event()

    class Holder(blocking_user_class()):
        def on_start(self) -> None:
            if self.number == 1:
                ready.wait()

    each = open_population(Holder, drop=True, max_users=2)
    each.arrive_one()
    each.arrive_one()
    Holder.let_go(0)
    assert Holder.busy() == [0]
    # The second arrival was begun by the first user, so the second user has nothing to do yet.
    each.arrive_one()
    assert (each.users.counts(), each.users.waiting, each.users.dropped) == ({"Holder": 2}, 1, 0)
    ready.set()
    settle()
    assert Holder.busy() == [0, 1]


def test_with_drop_what_finds_all_busy_is_dropped_under_the_name_of_its_class(open_population) -> None:
    holder = blocking_user_class()
    each = open_population(holder, max_users=2, drop=True)
    each.arrive(range(5))
    until(lambda: each.users.begun == 2)
    assert (each.users.dropped, each.users.waiting) == (3, 0)
    assert each.ledger.dropped_at == [(0, each.start + due) for due in (2, 3, 4)]
    assert each.ledger.endpoints == [("", "Holder")]
    holder.let_go(1)
    each.arrive_one()
    assert holder.busy() == [0, 1]


def test_no_endpoint_is_made_when_nothing_is_dropped(open_population) -> None:
    each = open_population(due_time_user_class([]), drop=True)
    each.serve(3)
    assert each.ledger.endpoints == []


def test_iterations_have_the_mix_of_the_weights_even_if_one_user_of_a_class_is_enough(open_population) -> None:
    class Often(User):
        weight = 3

        @task
        def rest(self) -> None:
            begun["Often"] += 1

    class Seldom(User):
        @task
        def rest(self) -> None:
            begun["Seldom"] += 1

    begun: Counter[str] = Counter()
    each = open_population(Often, Seldom)
    for _ in range(40):
        each.arrive_one()
    assert begun == {"Often": 30, "Seldom": 10}
    assert each.users.counts() == {"Often": 1, "Seldom": 1}


def test_at_the_limit_an_idle_user_makes_room_for_one_of_another_class(open_population) -> None:
    life: list[str] = []

    class Living(User):
        abstract = True

        def on_start(self) -> None:
            life.append(f"{type(self).__name__} comes")

        def on_stop(self) -> None:
            life.append(f"{type(self).__name__} goes")

        @task
        def rest(self) -> None:
            assert sum(each.users.counts().values()) == 1

    class Ada(Living):
        pass

    class Bob(Living):
        pass

    each = open_population(Ada, Bob, max_users=1, drop=True)
    for _ in range(3):
        each.serve(1)
    assert life == ["Ada comes", "Ada goes", "Bob comes", "Bob goes", "Ada comes"]
    assert each.users.dropped == 0


def test_nobody_leaves_for_a_class_that_has_users_however_long_its_arrivals_wait(open_population) -> None:
    class Ada(blocking_user_class()):
        pass

    class Bob(blocking_user_class()):
        pass

    each = open_population(Ada, Bob, max_users=2)
    each.arrive(6)
    until(lambda: each.users.begun == 2)
    for begun in (3, 4):
        Ada.let_go(0)
        assert each.users.begun == begun
    assert (Ada.busy(), Bob.busy()) == ([0], [0])


def test_a_user_who_has_to_leave_gets_no_arrival_any_more(open_population) -> None:
    finished: list[str] = []

    class Ada(User):
        @task
        def work(self) -> None:
            gevent.sleep(0)
            finished.append(type(self).__name__)

    class Bob(Ada):
        pass

    each = open_population(Ada, Bob, max_users=1)
    each.serve(1)
    each.serve(2)
    assert finished == ["Ada", "Bob", "Ada"]


def test_one_user_leaves_for_one_arrival_and_not_several(open_population) -> None:
    gone = Event()

    class Ada(blocking_user_class()):
        def on_stop(self) -> None:
            gone.wait()

    class Bob(User):
        @task
        def work(self) -> None:
            pass

    each = open_population(Ada, Bob, max_users=2)
    for _ in range(3):
        each.arrive_one()
    assert Ada.busy() == [0, 1]
    Ada.let_go(0)
    each.arrive_one()
    # The idle one is on its way out for Bob's second arrival; the other one need not follow it.
    Ada.let_go(1)
    gone.set()
    until(lambda: each.users.done)
    settle()
    assert each.users.counts() == {"Ada": 1, "Bob": 1}


def test_at_the_limit_no_class_starves(open_population) -> None:
    order: list[str] = []
    made: list[str] = []

    class Ada(User):
        weight = 3.0

        def on_start(self) -> None:
            made.append(type(self).__name__)

        @task
        def rest(self) -> None:
            order.append(type(self).__name__)

    class Bob(Ada):
        weight = 1.0

    each = open_population(Ada, Bob, max_users=1)
    each.serve(20)
    assert order == list(islice(by_weight({"Ada": 3.0, "Bob": 1.0}), 20))
    # Nobody leaves for one of the same class.
    assert made == [name for name, _ in groupby(order)]


def test_several_streams_add_up_and_none_of_them_keeps_the_others_from_their_turn(open_population) -> None:
    seen: list[int] = []
    each = open_population(due_time_user_class(seen), max_users=1)
    each.arrive(range(1000))
    each.arrive(range(1000, 2000))
    until(lambda: each.users.done)
    each.check()
    phases = [(due - each.start) // 1000 for due in each.ledger.offered_at]
    assert Counter(phases) == {0: 1000, 1: 1000}
    assert phases[:1000] != [0] * 1000
    assert sorted(seen) == [each.start + due for due in range(2000)]


def test_iterations_without_an_exchange_let_others_have_their_turn(open_population) -> None:
    turns: list[int] = []
    begun: list[int] = []

    class Shopper(User):
        def on_start(self) -> None:
            until(lambda: each.users.waiting == 100)
            # As after an exchange, which excuses the user from one turn and not from all.
            end_exchange(self)

        @task
        def compute(self) -> None:
            begun.append(len(turns))

    def another() -> None:
        while True:
            turns.append(len(begun))
            gevent.sleep(0)

    each = open_population(Shopper, max_users=1)
    other = gevent.spawn(another)
    each.serve(100)
    other.kill()
    assert len(begun) == len(set(begun)) == 100


def test_fixed_count_is_ignored_and_says_so_once(open_population, caplog) -> None:
    class Few(User):
        fixed_count = 1

        @task
        def rest(self) -> None: ...

    class Fewer(Few):
        weight = 0

    each = open_population(Few, Fewer, due_time_user_class([]))
    for _ in range(4):
        each.arrive_one()
    assert each.users.counts() == {"Few": 1, "Shopper": 1}
    (message,) = caplog.messages
    assert "Few, Fewer" in message


def test_without_any_weight_there_is_nobody_to_share_arrivals_out_to(open_population) -> None:
    class Fixed(User):
        fixed_count = 1
        weight = 0

    with pytest.raises(UsageError, match="weight"):
        open_population(Fixed)


def test_there_must_be_room_for_a_user(open_population) -> None:
    with pytest.raises(ValueError, match="max_users"):
        open_population(due_time_user_class([]), max_users=0)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    phases=st.lists(st.lists(st.sampled_from(["go on", "yield", "stop", "fail", "ask", "be killed"])), max_size=4),
    starts=st.lists(st.booleans(), max_size=20),
    classes=st.integers(1, 3),
    max_users=st.integers(1, 4),
    drop=st.booleans(),
    cut=st.none() | st.integers(0, 30),
)
def test_every_arrival_is_begun_or_dropped_or_waits(
    open_population,
    monkeypatch,
    phases: list[list[str]],
    starts: list[bool],
    classes: int,
    max_users: int,
    drop: bool,
    cut: int | None,
) -> None:
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *_: None)
    script, starting = chain.from_iterable(phases), iter(starts)
    unbalanced: list[str] = []

    class Erratic(User):
        def on_start(self) -> None:
            balance()
            if not next(starting, True):
                raise StopUser

        @task
        def act(self) -> None:
            balance()
            match next(script, "go on"):
                case "yield":
                    gevent.sleep(0)
                case "stop":
                    raise StopUser
                case "fail":
                    raise ValueError("sold out")
                case "ask":
                    self.stop()
                case "be killed":
                    gevent.spawn(self.stop, force=True)
                    gevent.sleep(0.001)

    def balance() -> None:
        users = each.users
        alive = sum(users.counts().values())
        if users.offered != users.begun + users.dropped + users.waiting:
            unbalanced.append(f"{users.offered} != {users.begun} + {users.dropped} + {users.waiting}")
        if not (0 <= users.busy <= alive <= max_users):
            unbalanced.append(f"busy {users.busy}, alive {alive}, at most {max_users}")
        for pool in users._pools:
            if pool.idle and pool.waiting:
                unbalanced.append("idle while arrivals wait")

    kinds = [type(f"Erratic{n}", (Erratic,), {"weight": n + 1}) for n in range(classes)]
    environment = Environment(user_classes=list(kinds), catch_exceptions=False)
    each = open_population(*kinds, environment=environment, max_users=max_users, drop=drop)
    for phase in phases:
        each.arrive(len(phase))
        settle()
    if cut is None:
        until(lambda: each.users.done)
    else:
        until(lambda: each.users.done or each.users.offered >= cut)
        each.users.drain(0)
    each.check()
    assert unbalanced == []
    assert each.users.waiting == 0
    assert each.users.offered == sum(map(len, phases))


def test_other_arrivals_can_take_the_place_of_those_to_come(open_population) -> None:
    seen: list[int] = []
    played = open_population(due_time_user_class(seen))
    played.arrive([0, 1, 2, 10 * LONG_NS, 11 * LONG_NS])
    until(lambda: len(seen) == 3)
    played.users.arrive_instead([(iter([5, 6]), played.start)], played.start)
    until(lambda: played.users.done)
    assert seen == [played.start + each for each in (0, 1, 2, 5, 6)]
