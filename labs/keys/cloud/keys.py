"""The data of the cloud service: keys with versions, and the allowed state changes of a version."""

from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    """State of a version, with the names of the cloud service."""

    PENDING_IMPORT = "PENDING_IMPORT"
    IMPORT_FAILED = "IMPORT_FAILED"
    ENABLED = "ENABLED"
    DISABLED = "DISABLED"
    DESTROY_SCHEDULED = "DESTROY_SCHEDULED"


NEXT = {
    State.PENDING_IMPORT: {State.ENABLED, State.IMPORT_FAILED},
    State.IMPORT_FAILED: {State.PENDING_IMPORT},
    State.ENABLED: {State.DISABLED, State.DESTROY_SCHEDULED},
    State.DISABLED: {State.ENABLED, State.DESTROY_SCHEDULED},
    State.DESTROY_SCHEDULED: {State.DISABLED},  # restored
}
"""All allowed state changes. A change to the same state is not allowed."""


class PreconditionError(Exception):
    """The version's state does not allow this."""


@dataclass
class Version:
    """One version of a key's material."""

    name: str
    state: State = State.PENDING_IMPORT
    material: bytes = b""
    """What was imported, unwrapped: an AES-256 key."""

    def become(self, state: State) -> None:
        """Raises PreconditionError."""
        if state not in NEXT[self.state]:
            raise PreconditionError(f"{self.name} is {self.state}, from where it cannot become {state}")
        self.state = state


@dataclass
class Key:
    """A key with imported versions."""

    name: str
    labels: dict[str, str] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)

    def import_begins(self) -> Version:
        """Adds a version, without material so far."""
        version = Version(f"{self.name}/cryptoKeyVersions/{len(self.versions) + 1}")
        self.versions.append(version)
        return version


class KeyRing:
    """All keys, by name."""

    def __init__(self, name: str) -> None:
        """name: `projects/P/locations/L/keyRings/R`."""
        self.name = name
        self._keys: dict[str, Key] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def create(self, id: str) -> Key:
        """Adds a key without versions. Raises PreconditionError if the name exists."""
        name = f"{self.name}/cryptoKeys/{id}"
        if name in self._keys:
            raise PreconditionError(f"{name} exists already")
        self._keys[name] = Key(name)
        return self._keys[name]

    def key(self, name: str) -> Key:
        """Raises KeyError."""
        return self._keys[name]

    def version(self, name: str) -> Version:
        """Raises KeyError."""
        key, _, number = name.partition("/cryptoKeyVersions/")
        versions = self._keys[key].versions
        if not number.isdigit() or not 1 <= int(number) <= len(versions):
            raise KeyError(name)
        return versions[int(number) - 1]
