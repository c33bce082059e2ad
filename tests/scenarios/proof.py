"""The scenario of two visits of a real application, what it takes from replies, and its proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.scenarios.application import record, started
from tests.scenarios.comparison import by_har2locust

from plimsoll.sources.making import make_draft, written
from plimsoll.sources.proof.proving import prove

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenarios.application import Application
    from tests.scenarios.comparison import Har2locust


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the scenario of an application turned out."""

    application: str
    """Its name."""
    shows: str
    """As in `Application`."""
    steps: int
    """At least 1."""
    taken: int
    """Values that the plan takes from replies."""
    wrong: tuple[str, ...]
    """Variables that are taken from replies, or left to the person, although they should not be."""
    missed: tuple[str, ...]
    """Variables that should be taken from replies, or be left to the person, and are not."""
    differing: tuple[str, ...]
    """Steps that are not proven, with the reason."""
    last_pass: str
    """The pass of the proof that was the last one."""
    explanation: str
    """Of the first step that differs; "" without one."""
    plan: str
    """The text of the plan."""
    har2locust: Har2locust | None = None
    """What that makes of the first recording; None if it was not asked."""

    @property
    def row(self) -> str:
        """A row of the table in docs/guides/scenario.md."""
        proven = "all" if not self.differing else f"all but {len(self.differing)}"
        figures = (self.steps, self.taken, len(self.wrong), len(self.missed), proven)
        return f"| {self.application} | {self.shows} | {' | '.join(map(str, figures))} |"

    @property
    def comparison(self) -> str:
        """A row of the second table there."""
        if self.har2locust is None:
            return ""
        figures = (self.taken, self.har2locust.taken, self.har2locust.requests, self.har2locust.failed)
        return f"| {self.application} | {' | '.join(map(str, figures))} |"

    @property
    def is_whole(self) -> bool:
        """Every step is proven, and every value comes from where it should."""
        return not (self.wrong or self.missed or self.differing)


def proven_scenario(application: Application, folder: Path, *, compare: bool = False) -> Outcome:
    """Starts the application, records two visits, makes the scenario and proves it. folder: for all files. compare:
    whether har2locust makes a locustfile of the first recording, too."""
    data = folder / "data"
    data.mkdir()
    with started(application, data) as url:
        recordings = [folder / f"visit-{number}.har" for number in (1, 2)]
        for number, path in enumerate(recordings, 1):
            record(application, url, number, path)
        draft = make_draft([*map(str, recordings)])
        files = written(draft, "plan", folder, as_locustfile=False)
        (folder / "plan.toml").write_text(files.text)
        proof = prove(draft)
        har2locust = by_har2locust(recordings[0], folder) if compare else None
    taken = [extract.name for step in draft.steps for extract in step.extracts]
    expected = [*application.from_replies, *application.from_person]
    got = [name for name in (*taken, *draft.data) if name not in application.from_clock]
    return Outcome(
        application.name, application.shows, len(draft.steps), len(taken),
        tuple(name for name in got if name not in expected), tuple(name for name in expected if name not in got),
        tuple(f"{step.step}: {step.state} {step.why}" for step in proof.steps if step.state != "proven"),
        proof.last_pass, proof.explanation, files.text, har2locust,
    )  # fmt: skip
