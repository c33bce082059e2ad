"""What the upstream keeps: keys with versions, and what may be done to a version in which state."""

from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    """Of a version, in the words of the cloud service."""

    PENDING_IMPORT = "PENDING_IMPORT"
    ENABLED = "ENABLED"
    DISABLED = "DISABLED"
    DESTROY_SCHEDULED = "DESTROY_SCHEDULED"


NEXT = {
    State.PENDING_IMPORT: {State.ENABLED},
    State.ENABLED: {State.DISABLED, State.DESTROY_SCHEDULED},
    State.DISABLED: {State.ENABLED, State.DESTROY_SCHEDULED},
    State.DESTROY_SCHEDULED: {State.DISABLED},  # restored
}
"""Every step that a version may take. There is none to where it already is."""


class PreconditionError(Exception):
    """The version is in no state from which this could be done."""


@dataclass
class Version:
    """One version of a key's material."""

    name: str
    state: State = State.PENDING_IMPORT

    def become(self, state: State) -> None:
        """Raises PreconditionError."""
        if state not in NEXT[self.state]:
            raise PreconditionError(f"{self.name} is {self.state}, from where it cannot become {state}")
        self.state = state


@dataclass
class Key:
    """A key, whose first version is imported with it."""

    id: int
    """From 1, without gaps."""
    labels: dict[str, str] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"projects/lab/locations/global/keyRings/lab/cryptoKeys/key-{self.id}"


class KeyRing:
    """All keys, by id."""

    def __init__(self) -> None:
        self._keys: dict[int, Key] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def upload(self) -> Key:
        """A new key with one enabled version."""
        key = Key(len(self._keys) + 1)
        version = Version(f"{key.name}/cryptoKeyVersions/1")
        version.become(State.ENABLED)
        key.versions.append(version)
        self._keys[key.id] = key
        return key

    def key(self, id: int) -> Key:
        """Raises KeyError."""
        return self._keys[id]

    def version(self, id: int, number: int) -> Version:
        """number: from 1. Raises KeyError."""
        versions = self._keys[id].versions
        if not 1 <= number <= len(versions):
            raise KeyError(number)
        return versions[number - 1]
