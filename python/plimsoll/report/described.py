"""What a report wants to know of a run besides its numbers."""

from __future__ import annotations

from typing import Any, Protocol


class Described(Protocol):
    """A run with its circumstances; what the store hands out. Times are Unix seconds."""

    @property
    def id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def started(self) -> float: ...
    @property
    def ended(self) -> float | None: ...
    @property
    def experiment(self) -> str | None: ...
    @property
    def manifest(self) -> dict[str, Any]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def facts(self) -> dict[str, Any]: ...


class Labelled(Described, Protocol):
    """With what people say of it."""

    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def note(self) -> str: ...
