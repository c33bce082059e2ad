"""What `plimsoll scenario` writes: files that are not replaced by mistake, and the plans of access logs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli.parts.common import say
from plimsoll.errors import UsageError
from plimsoll.plain_text import plain_lines
from plimsoll.say.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.sources.making import ScenarioFiles


SUFFIXES = (".toml", ".py")
"""Of a plan and of a locustfile."""


@dataclass(frozen=True, slots=True)
class AccessLogs:
    """Access logs as the command line names them."""

    paths: tuple[str, ...]
    """Or "-"."""
    log_format: str | None
    """None: detected."""
    host: str | None
    """The base URL of the target; None: it is given to `plimsoll run`."""
    assets: bool
    """Requests of assets are kept."""

    def check(self, output: str | None) -> None:
        """Raises UsageError for a name of the plan that is none, and for a host that is no URL."""
        from plimsoll.load.mistakes import named
        from plimsoll.load.origins import split_url

        if output is not None and output.endswith(".py"):
            raise UsageError(f"--output {output}: an access log becomes a plan; write to a .toml file")
        if self.host is not None:
            with named("--host"):
                split_url(self.host)

    @property
    def names(self) -> list[str]:
        from plimsoll.sources.making import source_name

        return [source_name(path) for path in self.paths]

    @property
    def run_host(self) -> str:
        """The option of `plimsoll run` that the plan needs."""
        return "" if self.host else " -H http://127.0.0.1:8000"


def check_output(output: str) -> None:
    """Raises UsageError for a name that is neither a plan's nor a locustfile's, and for a folder that is missing."""
    from plimsoll.report.writing import check_folder

    if not output.endswith(SUFFIXES):
        raise UsageError(f"--output {output}: write a plan (plan.toml) or a locustfile (locustfile.py)")
    check_folder(Path(output), option="--output")


def check_free(paths: Iterable[Path], *, force: bool) -> None:
    """Raises UsageError if one of the files is there."""
    taken = next((path for path in paths if path.exists()), None)
    if taken is not None and not force:
        raise UsageError(f"{taken} exists; choose another name, or replace it with --force")


def write_files(path: Path, files: ScenarioFiles, *, force: bool) -> None:
    """Nothing is written if one of the files is there. Files beside the scenario can be read by this user only."""
    from plimsoll.sources.making import new_file

    contents = {path: files.text.encode(), **{path.with_name(name): text for name, text in files.files.items()}}
    check_free(contents, force=force)
    try:
        for file, content in contents.items():
            with new_file(file, 0o644 if file == path else 0o600) as stream:
                stream.write(content)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename or path}: {error.strerror}") from error


def write_mix(logs: AccessLogs, output: str | None, *, force: bool) -> None:
    """The mix of access logs as a plan. Raises UsageError."""
    from plimsoll.sources.access_logs.mix_plan import mix_files, mix_in_words
    from plimsoll.sources.access_logs.reading import read_mix

    logs.check(output)
    mix = read_mix(logs.paths, logs.log_format, assets=logs.assets)
    files = mix_files(mix, logs.names, Path(output).stem if output else "mix", logs.host)
    tell = say if output is None else click.echo
    if output is None:
        click.echo(files.text, nl=False)
    else:
        write_files(Path(output), files, force=force)
    for line in mix_in_words(mix):
        tell(plain_lines(line))
    for note in files.notes:
        tell(f"note: {plain_lines(note)}")
    if output is None:
        if files.files:
            tell(f"The plan reads {counted(len(files.files), 'file')} of values, only written with -o FILE.")
    else:
        beside = f", and {counted(len(files.files), 'file')} of values beside it" if files.files else ""
        tell(f"Written: {output}{beside}.")
        tell(f"Run it: plimsoll run {output}{logs.run_host} -t 1m --headless")


def write_replay_plan(logs: AccessLogs, output: str | None, speed: float, *, force: bool) -> None:
    """The replay of access logs as a plan, with its requests and times. Raises UsageError."""
    from plimsoll.sources.access_logs.mix_plan import mix_in_words
    from plimsoll.sources.access_logs.replay import ReplayPaths, write_replay
    from plimsoll.sources.making import new_file

    if output is None:
        raise UsageError("--replay writes files of requests and times: name the plan with -o replay.toml")
    logs.check(output)
    paths = ReplayPaths(Path(output))
    check_free((paths.plan, paths.requests, paths.times), force=force)
    try:
        replay, mix = write_replay(
            logs.paths, logs.names, logs.log_format, paths, logs.host, speed=speed, assets=logs.assets
        )
        with new_file(paths.plan, 0o644) as stream:
            stream.write(replay.text.encode())
    except OSError as error:
        raise UsageError(f"cannot write {error.filename or output}: {error.strerror}") from error
    for line in mix_in_words(mix):
        click.echo(plain_lines(line))
    for note in replay.notes:
        click.echo(f"note: {plain_lines(note)}")
    click.echo(f"Written: {output}, {paths.requests} and {paths.times}, of {counted(replay.requests, 'request')}.")
    click.echo(f"Run it: plimsoll run {output}{logs.run_host} --headless")
