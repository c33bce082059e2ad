"""What `stats.entries` and `stats.errors` have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Key = TypeVar("Key")
Value = TypeVar("Value", covariant=True)


class LiveMapping(Mapping[Key, Value]):
    """A mapping that is brought up to date when it is read. Iteration is over a copy, as requests come meanwhile."""

    def refresh(self) -> Mapping[Key, Value]:
        """The mapping as it is now."""
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
