"""One run and one disturbance, chosen by a seed."""

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from .disturbances import DISTURBANCES, Disturbance
from .protocols import HTTP, PROTOCOLS, users_of


@dataclass(frozen=True)
class Trial:
    """The run and its disturbance."""

    seed: int
    is_native: bool
    is_open: bool
    users: int
    """In the open model: a tenth of the arrivals per second."""
    processes: int
    seconds: float
    """The run time."""
    disturbance: Disturbance
    moment: float
    """The time of the disturbance as a share of the run time, counted from the first request."""
    protocol: str = HTTP
    """Of `PROTOCOLS`."""

    def arguments(self, place: str, folder: Path) -> list[str]:
        """Arguments of `plimsoll run`. place: of the target. folder: for files that they name."""
        load = ["--rate", f"{self.users * 10}/s"] if self.is_open else ["-u", str(self.users), "-r", str(self.users)]
        length = ["--processes", str(self.processes), "-t", f"{self.seconds:g}s", "-s", "2s"]
        return [*users_of(self.protocol, place, folder, native=self.is_native), *load, *length]

    def __str__(self) -> str:
        users = "native" if self.is_native else "python"
        load = f"{self.users * 10}/s" if self.is_open else f"{self.users} users"
        return (
            f"{self.seed:>6}  {self.protocol}, {users}, {load}, {self.processes} × {self.seconds:g} s; "
            f"{self.disturbance.name} at {self.moment * self.seconds:.1f} s"
        )


def draw(seed: int, names: tuple[str, ...] = tuple(DISTURBANCES), protocols: tuple[str, ...] = PROTOCOLS) -> Trial:
    """The same seed gives the same trial. names, protocols: disturbances and protocols to choose from."""
    chance = Random(seed)
    trial = Trial(
        seed=seed,
        is_native=chance.random() < 0.5,
        is_open=chance.random() < 0.4,
        users=chance.randint(1, 30),
        processes=chance.randint(1, 2),
        seconds=float(chance.randint(3, 6)),
        disturbance=DISTURBANCES[chance.choice(names)],
        moment=chance.uniform(0.1, 0.9),
    )
    # Last, so that a number draws what it did when there was one protocol.
    protocol = chance.choice(protocols) if trial.disturbance.any_protocol else HTTP
    return replace(trial, protocol=protocol, **trial.disturbance.load)
