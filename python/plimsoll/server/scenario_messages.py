"""Messages about a scenario that the page sends as a file, to start runs of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ScenarioStepItem:
    """One request of the scenario."""

    method: str
    name: str
    """Its name in reports: a person's, or the path."""
    takes: tuple[str, ...]
    """Names of the values that it takes from its reply."""


@dataclass(frozen=True, slots=True)
class ScenarioItem:
    """The plan that a file became. Credentials of the file are not in it."""

    id: str
    """Within this process, of this plan."""
    source: str
    """The name of the file that was sent."""
    file: str
    """The name of the plan's file."""
    plan: str
    """The plan."""
    steps: tuple[ScenarioStepItem, ...]
    summary: str
    notes: tuple[str, ...]
    """What the scenario does not do, although the file says so, and which files the plan reads."""
    proof_offer: str
    """How often a proof sends the scenario."""


@dataclass(frozen=True, slots=True)
class ScenarioChoice:
    """Which scenario something is done with."""

    id: str = ""
    """Of a `ScenarioItem`; "" is the source of the command line."""


@dataclass(frozen=True, slots=True)
class StepProofItem:
    """How a step went."""

    state: Literal["proven", "differs", "not reached"]
    why: str
    """How its reply differs; "" if it does not."""


@dataclass(frozen=True, slots=True)
class ProofItem:
    """The proof of a scenario."""

    summary: str
    steps: tuple[StepProofItem, ...]
    """One for each step of the scenario, in order."""
    explanation: str
    """Why the first step that differs does so; "" if that is unknown."""
