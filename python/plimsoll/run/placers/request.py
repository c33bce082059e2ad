"""What `--on` asks for, and the master of a run whose workers a placer starts."""

from __future__ import annotations

from contextlib import chdir, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.run.placers.kinds import placer_of
from plimsoll.run.placers.placer import MasterAddress
from plimsoll.run.placers.placing import LIMIT_S, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.run.options.command import RunWords
    from plimsoll.run.transport.master import Master

NOT_WITH = ("master", "worker", "cluster", "attach", "insecure_join")
"""Options that say themselves where workers come from, or how they join."""
UNLESS_GIVEN = {"master_bind_host": "*", "master_bind_port": 0, "master_host": None}
"""Such a master listens at all addresses, at a port that is free, and its placer finds the address for the workers."""


def as_master(words: RunWords) -> RunWords:
    """The words of a command with --on as those of a master. Raises UsageError."""
    given = words.given
    for name in NOT_WITH:
        if given[name]:
            raise UsageError(f"--on and --{name.replace('_', '-')} do not go together: --on starts the workers itself")
    placer_of(given["on"])
    changes = {name: value for name, value in UNLESS_GIVEN.items() if name in words.defaults}
    return replace(words, given={**given, "master": True, **changes})


@dataclass(frozen=True, slots=True)
class PlacedWorkers:
    """Workers that a placer is to start. Plain values: another process may make the run."""

    where: str
    """As `--on` has it."""
    folder: str
    """Where a relative path in it begins."""
    host: str | None
    """As `--master-host` says."""
    bind_host: str
    bind_port: int
    limit: int
    """Seconds for all of them to join."""

    @classmethod
    def of(cls, words: RunWords) -> PlacedWorkers:
        """words: of `as_master`."""
        given = words.given
        return cls(
            where=given["on"],
            folder=str(Path.cwd()),
            host=given["master_host"],
            bind_host=given["master_bind_host"],
            bind_port=given["master_bind_port"],
            limit=given["expect_workers_max_wait"] or LIMIT_S,
        )

    @contextmanager
    def started(self, master: Master, say: Callable[[str], None]) -> Iterator[None]:
        """Within the block the workers are there. say: prints a line. Raises PlimsollError."""
        with chdir(self.folder):
            placer = placer_of(self.where)
        address = MasterAddress(self.host, master.port, master.token, lambda: master.joined)
        with placed(placer, master, address, self.limit, say):
            yield

    @contextmanager
    def master(self, token: str, say: Callable[[str], None]) -> Iterator[Master]:
        """Within the block there is a master with these workers. Raises PlimsollError."""
        from plimsoll.run.transport.master import Master

        master = Master(self.bind_host, self.bind_port, token, say)
        try:
            with self.started(master, say):
                yield master
        finally:
            master.close()
