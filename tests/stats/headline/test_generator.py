import pytest
from tests.stats.headline.runs import CLOSED, OPEN, SOUND, health, view_of

from plimsoll.record.facts import RunFacts
from plimsoll.say.headline import headline
from plimsoll.stats.headline import diagnose
from plimsoll.stats.headline.generator import ENOUGH
from plimsoll.stats.validity import judge
from plimsoll.stats.view import RunView


def generator(view, manifest=CLOSED, facts=SOUND, **given):
    return headline(diagnose(view, manifest, facts, **given)).generator


@pytest.mark.parametrize(
    ("view", "tone", "title", "said"),
    [
        (lambda: RunView(), "unknown", "Too early to tell", "No worker has reported yet."),
        (lambda: view_of(2), "unknown", "Too early to tell", "300 exchanges so far; 100 in 3 s are needed."),
        (lambda: view_of(30, 1), "unknown", "Too early to tell", "31 exchanges so far"),
        (
            lambda: view_of(12),
            "good",
            "Honest",
            "lag p99 0.05 ms, delay p99 0.1 ms; CPU of the worker up to 30 %.",
        ),
        (lambda: view_of(12, state=lambda _: {"lag_ms": 5.0}), "warning", "Sends late", "p99 may be up to 5 ms too"),
        (
            lambda: view_of(12, state=lambda _: {"delay_ms": 50.0}),
            "warning",
            "Costs throughput",
            "Throughput may be up to 10 %",
        ),
        (lambda: view_of(30, state=lambda s: {"cpu": 0.95 if s > 20 else 0.2}), "warning", "Short of CPU", "80 %"),
        (lambda: view_of(12, state=lambda _: {"exhausted": 1}), "bad", "Ran out of something", "files"),
        (
            lambda: view_of(12, state=lambda _: {"user_stamps": 50}),
            "warning",
            "Honest, but coarse",
            "did not stamp 50 % of the arrivals",
        ),
    ],
)
def test_the_first_check_that_failed_is_what_it_is(view, tone, title, said):
    found = generator(view())
    assert (found.tone, found.title) == (tone, title)
    assert said in found.text


def test_a_busy_second_at_the_start_is_no_verdict_yet():
    def view(seconds, **given):
        return view_of(seconds, state=lambda second: {"cpu": 0.97 if second == 0 else 0.2}, **given)

    early = generator(view(5))
    assert (early.tone, early.title) == ("warning", "Busy")
    assert "more than 80 % CPU in the first seconds, up to 97 %" in early.text
    assert generator(view(ENOUGH)).title == "Honest"
    assert generator(view(5, length=5.0)).title == "Short of CPU", "a run that is over is judged as it is stored"


def test_what_never_heals_is_said_at_once():
    view = view_of(1)
    found = generator(view, facts=RunFacts(lost_workers=1, clock_step_ms=90.0))
    assert (found.tone, found.title) == ("bad", "Lost a worker")
    assert any("clock was set by 90 ms" in line for line in found.more)
    dropped = view_of(1, state=lambda _: {"offered": 1000, "dropped": 1})
    assert generator(dropped, OPEN).title == "Dropped arrivals"


def test_several_workers_are_told_by_the_busiest():
    view = view_of(12)
    view.add((), [health(second, worker=1, cpu=0.6) for second in range(12)])
    assert "CPU of the busiest of 2 workers up to 60 %" in generator(view).text


def test_what_could_not_be_checked_is_said():
    found = generator(view_of(12), facts=RunFacts())
    assert found.tone == "good"
    assert "Not checked: workers, coordinator, clock." in found.more


def test_a_run_that_is_over_may_bring_its_own_verdict():
    view = view_of(30, length=30.0)
    facts = RunFacts(lost_workers=2, clock_step_ms=0.0)
    assert generator(view, validity=judge(view, CLOSED, facts, "finished")).title == "Lost a worker"
