"""A container as a target, run by docker or podman."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from plimsoll.experiment.cell_values import CellError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ENGINES = ("docker", "podman")
ANSWER_SECONDS = 30.0
PULL_SECONDS = 900.0


def find_engine() -> str:
    """The first of docker and podman that works here. Raises CellError that says what is wrong with each."""
    wrong = []
    for name in ENGINES:
        if (path := shutil.which(name)) is None:
            wrong.append(f"there is no {name}")
            continue
        try:
            _ask([path, "version"], ANSWER_SECONDS)
            return path
        except CellError as error:
            wrong.append(f"{name} does not work here ({error.log[-1] if error.log else error})")
    raise CellError(f"`image = …` needs docker or podman: {', '.join(wrong)}")


def fetch(engine: str, image: str) -> str:
    """The image's id; it is pulled if it is not here. Raises CellError."""
    inspect = [engine, "image", "inspect", "--format", "{{.Id}}", image]
    try:
        return _ask(inspect, ANSWER_SECONDS)
    except CellError:
        _ask([engine, "pull", image], PULL_SECONDS)
        return _ask(inspect, ANSWER_SECONDS)


def run_words(
    engine: str,
    image: str,
    command: Sequence[str],
    *,
    name: str,
    port: int | str,
    container_port: int,
    env: Iterable[str] = (),
) -> list[str]:
    """The command that runs a container in the foreground, and removes it when it ends. port: of 127.0.0.1, leads to
    container_port; a placeholder, to show the command. env: names of our own environment that the container gets;
    values would be seen in `ps`."""
    words = [engine, "run", "--rm", "--name", name, "--publish", f"127.0.0.1:{port}:{container_port}"]
    for each in env:
        words += ["--env", each]
    return [*words, image, *command]


def remove_words(engine: str, name: str) -> list[str]:
    """The command that ends and removes a container, whose client may have been killed."""
    return [engine, "rm", "--force", name]


def pid_of(engine: str, name: str) -> int | None:
    """The pid of the first process in a container, on this machine; None if it is unknown."""
    try:
        found = int(_ask([engine, "inspect", "--format", "{{.State.Pid}}", name], ANSWER_SECONDS))
    except (CellError, ValueError):
        return None
    return found or None


def _ask(command: list[str], within: float) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=within,
            check=False,
        )  # fmt: skip
    except OSError as error:
        raise CellError(f"{command[0]}: {error.strerror}", command=command) from error
    except subprocess.TimeoutExpired as error:
        raise CellError(f"{command[0]} did not answer within {within:g} s", command=command) from error
    if done.returncode:
        raise CellError(
            f"{' '.join(command[1:3])} failed", command=command, ending=f"exit status {done.returncode}",
            log=done.stderr.strip().splitlines(),
        )  # fmt: skip
    return done.stdout.strip()
