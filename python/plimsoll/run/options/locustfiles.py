"""Which files `-f` names: found on this machine, or downloaded."""

from __future__ import annotations

from pathlib import Path

from plimsoll.errors import LocustfileError

DEFAULT = "locustfile.py"
EXIT_NO_USERS = 1
"""Locust's exit code where no locustfile, no user class or not the one asked for was found, or `init` failed."""


def find(argument: str) -> list[Path]:
    """The files that `-f` names: one, several with commas between, or all of a folder, as absolute paths.

    ".py" may be left out. Raises LocustfileError when there is none.
    """
    found = [path for part in argument.split(",") for path in _find_one(part.strip())]
    if not found:
        raise missing(f"no .py file in {argument}")
    return found


def _find_one(argument: str) -> list[Path]:
    if argument.startswith(("http://", "https://")):
        from plimsoll.run.options.download import download

        return [download(argument)]
    if argument == "-":
        raise LocustfileError("-f -: workers get the locustfile by themselves here; name the file")
    path = Path(argument).expanduser()
    if path.is_dir():
        files = (each for each in sorted(path.rglob("*.py")) if not each.name.startswith("_"))
        return [each.absolute() for each in files]
    for candidate in (path, path.with_name(path.name + ".py")):
        if candidate.is_file():
            return [candidate.absolute()]
    if argument == DEFAULT:
        raise missing(f"no {DEFAULT} in {Path.cwd()}; name another file with -f, or give a URL: plimsoll run http://…")
    raise missing(f"locustfile not found: {path.absolute()}")


def is_source(argument: str) -> bool:
    """A URL, a plan, or a file of targets; a locustfile has -f before it."""
    if argument.startswith(("http://", "https://")) or argument.endswith(".toml"):
        return True
    return not argument.startswith("-") and not argument.endswith(".py") and Path(argument).is_file()


def missing(message: str) -> LocustfileError:
    """The error of a locustfile, or of a user class, that there is not."""
    error = LocustfileError(message)
    error.exit_code = EXIT_NO_USERS
    return error
