"""What `--on` asks for, and the master of a run whose workers a placer starts."""

from __future__ import annotations

from contextlib import chdir, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.run.placers.kinds import placer_of
from plimsoll.run.placers.placer import MasterAddress
from plimsoll.run.placers.placing import LIMIT_S, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from plimsoll.run.options.command import RunWords
    from plimsoll.run.transport.master import Master

NOT_WITH = ("master", "worker", "attach", "insecure_join")
"""Options that say themselves where workers come from, or how they join."""
UNLESS_GIVEN = {"master_bind_host": "*", "master_bind_port": 0, "master_host": None}
"""Such a master listens at all addresses, at a port that is free, and its placer finds the address for the workers."""


def as_master(words: RunWords) -> RunWords:
    """The words of a command that places workers, as those of a master. Raises UsageError."""
    given = {**words.given, "on": _where(words.given)}
    cluster = given["cluster"]
    flag, count = ("--on", "say how many there") if cluster is None else ("--cluster", "say --workers-per-node N")
    for name in NOT_WITH:
        if given[name]:
            other = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} and {other} do not go together: {flag} starts the workers itself")
    if given["processes"] != 1:
        raise UsageError(f"--processes is for this machine; with {flag} {count}")
    placer_of(given["on"], "" if cluster is None else f"--cluster {cluster}")
    changes = {name: value for name, value in UNLESS_GIVEN.items() if name in words.defaults}
    return replace(words, given={**given, "master": True, **changes})


def _where(given: Mapping[str, Any]) -> str:
    """What --on says, or --cluster in its words. Raises UsageError."""
    cluster, on, nodes, workers = (given[name] for name in ("cluster", "on", "nodes", "workers_per_node"))
    if cluster is None:
        return str(on)
    if on is not None:
        raise UsageError("--on and --cluster do not go together: each starts the workers itself")
    if nodes is None:
        raise UsageError("--cluster needs --nodes N: how many of its machines get workers")
    return f"ray:{cluster},nodes={nodes},workers={workers}"


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
