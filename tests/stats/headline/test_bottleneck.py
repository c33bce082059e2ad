import pytest
from tests.stats.headline.runs import CLOSED, OPEN, SOUND, view_of

from plimsoll.say.headline import headline
from plimsoll.stats.headline import diagnose
from plimsoll.stats.headline.bottleneck import RecentLoad, UnknownBottleneck


def bottleneck(view, manifest=CLOSED):
    return headline(diagnose(view, manifest, SOUND)).bottleneck


def closed(users, in_flight, **given):
    return view_of(state=lambda _: {"users": users, "in_flight": in_flight}, **given)


def opened(**state):
    """Ten whole seconds, and those before. A number that is given as (first, step) grows by `step`."""

    def at(second):
        grown = {
            name: number[0] + second * number[1] if isinstance(number, tuple) else number
            for name, number in state.items()
        }
        return {"offered": 100, "in_flight": 5, "users": 20, **grown}

    return view_of(state=at)


@pytest.mark.parametrize(
    ("view", "tone", "title", "said"),
    [
        (lambda: view_of(2), "unknown", "Too early to tell", "2 whole seconds that count so far; 3 are needed."),
        (lambda: view_of(12, warmup=10), "unknown", "Too early to tell", "2 whole seconds"),
        (lambda: view_of(12, 0), "unknown", "Too early to tell", "Nothing was answered in the last seconds."),
        (
            lambda: closed(50, 2, ms=3.1),
            "good",
            "None: users mostly pause",
            "48 of 50 are thinking, or busy with their own code, at any moment; the target answers in 3.1 ms (p50).",
        ),
        (
            lambda: closed(50, 47),
            "warning",
            "The target",
            "47 of 50 users wait for it at any moment; it answers 100 requests/s.",
        ),
        (lambda: closed(50, 30), "good", "Users and target", "30 of 50 users wait for the target at any moment"),
        (lambda: closed(1, 1), "warning", "The target", "1 of 1 users"),
        (lambda: view_of(failing=60), "unknown", "Unknown", "60 % of the requests of the last 10 s failed."),
        (
            lambda: view_of(30, state=lambda _: {"cpu": 0.99, "in_flight": 47}),
            "warning",
            "The target",
            "47 of 50 users wait for it at any moment",  # the worker is full, and sends and reads in time
        ),
        (
            lambda: view_of(30, state=lambda _: {"cpu": 0.99, "in_flight": 47, "delay_ms": 60.0}),
            "bad",
            "The generator",
            "workers used more than 80 % CPU",
        ),
        (
            lambda: view_of(ms=2.0, state=lambda _: {"users": 1, "in_flight": 1, "lag_ms": 3.0, "delay_ms": 4.0}),
            "bad",
            "The generator",
            "Of the 10 ms from one request of a user to its next, 7 ms are the generator's own (lag 3 ms, delay 4 ms).",
        ),
    ],
)
def test_the_closed_model(view, tone, title, said):
    found = bottleneck(view())
    assert (found.tone, found.title) == (tone, title)
    assert said.lower() in found.text.lower()


def test_a_generator_that_is_late_does_not_hold_up_users_who_think():
    """Its times are too high, and it is not what limits the throughput."""
    view = closed(50, 2)
    late = view_of(state=lambda _: {"users": 50, "in_flight": 2, "lag_ms": 30.0, "delay_ms": 30.0})
    assert headline(diagnose(late, CLOSED, SOUND)).generator.tone == "warning"
    assert bottleneck(late).title == bottleneck(view).title == "None: users mostly pause"
    assert bottleneck(view_of(state=lambda _: {"offered": 100, "lag_ms": 30.0}), OPEN).title == "Nothing"


def test_littles_law_is_shown():
    (figures, _) = bottleneck(closed(50, 5)).more
    assert figures == (
        "100 requests/s; by Little's law a request takes 50 ms, and there are 450 ms between two of a user."
    )


def test_only_the_last_seconds_count():
    view = view_of(40, state=lambda second: {"users": 50, "in_flight": 2 if second < 30 else 48})
    assert bottleneck(view).title == "The target"


def test_what_a_run_does_at_its_end_does_not_count():
    view = view_of(20, state=lambda second: {"users": 50 if second < 15 else 0, "in_flight": 2}, length=20.0)
    assert bottleneck(view).text.startswith("48 of 50")
    offered = view_of(
        30,
        state=lambda second: {"offered": 200 if second < 15 else 0, "in_flight": 50, "waiting": 100 * min(second, 15)},
        length=30.0,
    )
    assert bottleneck(offered, OPEN).title == "max_users"


@pytest.mark.parametrize(
    ("view", "tone", "title", "said"),
    [
        (
            lambda: opened(),
            "good",
            "Nothing",
            "The target takes all that is offered: 100 arrivals/s, 5 requests in flight.",
        ),
        (lambda: opened(waiting=1), "good", "Nothing", "takes all"),
        (lambda: opened(waiting=(900, -50)), "good", "Nothing", "takes all"),
        (
            lambda: opened(waiting=(0, 30), in_flight=20),
            "warning",
            "The target",
            "70 of 100 arrivals/s offered are taken up; 330 wait, 270 more than 9 s ago.",
        ),
        (
            lambda: opened(waiting=(0, 30), in_flight=50),
            "warning",
            "max_users",
            "All 50 users that there may be are busy: 70 of 100 arrivals/s offered are taken up; 330 wait",
        ),
        (
            lambda: opened(dropped=10, in_flight=50),
            "warning",
            "max_users",
            "All 50 users that there may be are busy: 90 of 100 arrivals/s offered are taken up; 130 were dropped.",
        ),
        (lambda: opened(offered=0), "unknown", "Too early to tell", "No arrival was due in the last seconds."),
    ],
)
def test_the_open_model(view, tone, title, said):
    found = bottleneck(view(), OPEN)
    assert (found.tone, found.title) == (tone, title)
    assert said in found.text


def test_the_limit_is_a_value_with_the_load_that_it_follows_from():
    found = diagnose(closed(50, 47), CLOSED, SOUND).bottleneck
    assert (found.limit, found.load) == ("target", RecentLoad(users=50, in_flight=47, rate=100))
    assert (found.load.took, found.load.pause) == (470, 30)
    assert diagnose(view_of(2), CLOSED, SOUND).bottleneck == UnknownBottleneck("seconds", 2)
