"""What tests of several outputs send, by themselves and by a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.outputs.kinds import opened
from plimsoll.outputs.metric_histogram import BOUNDS_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.outputs.output import OutputEvent, OutputRun, OutputSecond


def sent(text: str, run: OutputRun, *seconds: OutputSecond, events: Sequence[OutputEvent] = ()) -> None:
    """All of it is delivered. text: as --out has it."""
    _, output = opened(text, has_page=False)
    output.open(run)
    for second in seconds:
        output.second(second)
    for event in events:
        output.event(event)
    assert output.flush(5.0) is None
    output.close()


def shopper(name: str = "/fail") -> str:
    """A locustfile whose users ask for /, and under this name for /fail, which fails."""
    return (
        "from locust import HttpUser, task, constant\n"
        "class Shopper(HttpUser):\n"
        "    wait_time = constant(0.02)\n"
        "    @task\n"
        "    def shop(self):\n"
        "        self.client.get('/')\n"
        f"        self.client.get('/fail', name={name!r})\n"
    )


def bucket(seconds: float) -> int:
    """Which of the buckets of a histogram has a time."""
    return sum(bound < seconds for bound in BOUNDS_S)
