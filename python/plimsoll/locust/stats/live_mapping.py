"""Base of `stats.entries` and `stats.errors`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Key = TypeVar("Key")
Value = TypeVar("Value", covariant=True)


class LiveMapping(Mapping[Key, Value]):
    """A mapping that is updated on reading. Iteration uses a copy, because requests arrive in the meantime."""

    def refresh(self) -> Mapping[Key, Value]:
        """The updated mapping."""
        raise NotImplementedError

    def __getitem__(self, key: Key) -> Value:
        return self.refresh()[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.copy())

    def __len__(self) -> int:
        return len(self.refresh())

    def values(self) -> Any:
        return self.copy().values()

    def items(self) -> Any:
        return self.copy().items()

    def copy(self) -> dict[Key, Value]:
        return dict(self.refresh())

    def __repr__(self) -> str:
        return repr(self.copy())
