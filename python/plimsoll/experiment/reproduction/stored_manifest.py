"""What is needed of the manifest of a stored run to run it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from plimsoll.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.store import StoredRun


@dataclass(frozen=True, slots=True)
class StoredManifest:
    """name, commit: of the scenario; None if they are not known."""

    name: str | None
    commit: str | None
    digests: Mapping[int, str]
    """The SHA-256 of the files of the run, by their place in `plan_files`."""
    plan: Mapping[str, Any] | None
    """Fields of the plan without its scenario, as stored: `RunPlan.from_dict` checks them. None if no plan is kept."""
    scenario: dict[str, Any] | None
    """What native users do, as stored: `load.scenario.refusal` checks it."""

    @classmethod
    def of(cls, run: StoredRun) -> Self:
        """Raises StoreError for values that no Plimsoll wrote."""
        manifest = run.manifest
        try:
            scenario, git, plan = (manifest.get(name) or {} for name in ("scenario", "git", "plan"))
            files = enumerate(scenario.get("files") or ())
            return cls(
                str(scenario["name"]) if scenario.get("name") else None,
                str(git["commit"]) if git.get("commit") else None,
                {place: str(file["sha256"]) for place, file in files if file.get("sha256")},
                {**plan, "scenario": None} if plan else None,
                plan.get("scenario"),
            )
        except (AttributeError, LookupError, TypeError) as error:
            raise StoreError(f"the manifest of run {run.id} has a value that no Plimsoll wrote: {error}") from error

    @property
    def has_recorded_times(self) -> bool:
        """Whether the load replays recorded times, of which only a digest is kept."""
        return self.plan is not None and has_digest(self.plan.get("load"))


def kept_plan(run: StoredRun, manifest: StoredManifest) -> dict[str, Any]:
    """The fields of the plan. Raises UsageError when they are not all kept."""
    if manifest.plan is None:
        raise UsageError(f"run {run.id} does not say how it was made")
    if manifest.has_recorded_times:
        raise UsageError(f"run {run.id} replayed recorded times, which are not kept; run it by hand")
    return dict(manifest.plan)


def has_digest(value: Any) -> bool:
    """Whether a digest stands for some part of a stored value."""
    if isinstance(value, dict):
        return "sha256" in value or any(map(has_digest, value.values()))
    return isinstance(value, list | tuple) and any(map(has_digest, value))
