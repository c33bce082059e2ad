"""The scenario of two visits of a real application, what it takes from replies, and its proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.scenarios.application import record, started

from plimsoll.sources.making import make_draft, written
from plimsoll.sources.proof.proving import prove

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenarios.application import Application


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

    @property
    def row(self) -> str:
        """A row of the table in docs/guides/scenario.md."""
        proven = "all" if not self.differing else f"all but {len(self.differing)}"
        figures = (self.steps, self.taken, len(self.wrong), len(self.missed), proven)
        return f"| {self.application} | {self.shows} | {' | '.join(map(str, figures))} |"

    @property
    def is_whole(self) -> bool:
        """Every step is proven, and every value comes from where it should."""
        return not (self.wrong or self.missed or self.differing)


def proven_scenario(application: Application, folder: Path) -> Outcome:
    """Starts the application, records two visits, makes the scenario and proves it. folder: for all files."""
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
    taken = [extract.name for step in draft.steps for extract in step.extracts]
    expected = [*application.from_replies, *application.from_person]
    got = [name for name in (*taken, *draft.data) if name not in application.from_clock]
    return Outcome(
        application.name, application.shows, len(draft.steps), len(taken),
        tuple(name for name in got if name not in expected), tuple(name for name in expected if name not in got),
        tuple(f"{step.step}: {step.state} {step.why}" for step in proof.steps if step.state != "proven"),
        proof.last_pass, proof.explanation, files.text,
    )  # fmt: skip
