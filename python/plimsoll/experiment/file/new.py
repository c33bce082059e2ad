"""A first experiment.toml: two commits of the service in a folder, with what the folder shows of how it starts."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.experiment.cell_values import CellError
from plimsoll.experiment.file.file import DEFAULT
from plimsoll.experiment.source import git

if TYPE_CHECKING:
    from collections.abc import Callable

MAIN_BRANCHES = ("main", "master", "trunk", "develop")
MOST_BYTES = 1 << 20
"""Of a source file that is searched for the framework of a service; the rest of a longer one is not read."""
_APPLICATION = re.compile(r"^(\w+)\s*(?::\s*\w+\s*)?=\s*(?:\w+\.)?(FastAPI|Starlette|Litestar|Flask)\(", re.MULTILINE)
_NAME = re.compile(r"[^\w.-]+")
_OTHERS = "{port} is a free port; the variable PORT has it, too."


@dataclass(frozen=True, slots=True)
class _Start:
    """How a service is started."""

    words: tuple[str, ...]
    origin: str
    """The file that shows it; "" if none does."""


def write_new(place: str) -> tuple[Path, str]:
    """Write an experiment.toml that compares two commits of the service in a folder. place: the folder, or the file to
    write. Returns the file, and what remains to be checked in it. Raises UsageError for a file that exists, a folder
    that is not there, and one that is in no repository of git."""
    path = Path(place)
    path = path / DEFAULT if path.is_dir() else path
    folder = path.parent
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    before, after = _commits(folder)
    start = next(filter(None, (find(folder) for find in _FINDERS)), _Start(("./start-my-service", "{port}"), ""))
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(_text(folder, before, after, start))
    except FileExistsError:
        raise UsageError(f"{path} exists; give another name, as in plimsoll experiment --new other.toml") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot write it: {error.strerror}") from error
    if start.origin:
        return path, f"[target] start is taken from {start.origin}: check it"
    return path, "[target] start: write there how your service starts"


def _text(folder: Path, before: str, after: str, start: _Start) -> str:
    name = _NAME.sub("-", folder.resolve().name).strip("-") or "service"
    origin = f"Taken from {start.origin}; check it." if start.origin else "Write here how your service starts."
    return f"""\
# plimsoll experiment --dry-run     what will be run, and for how long
# plimsoll experiment               run it; plimsoll report {name} --splice README.md writes its result there
name = {_quoted(name)}
question = {_quoted(f"Is {after} faster than {before}?")}
repeats = 8        # of each commit; the intervals of a result come from the differences between them
budget = "15m"     # an experiment that takes longer does not begin

[scenario]
{_scenario(folder)}
run_time = "20s"   # as long as the service needs to show what matters
warmup = "5s"      # sent before, and left out

[levels]
users = [10]       # several, as in [10, 50, 200], show how the service behaves under more load

[compare]
metrics = ["p50", "p99", "throughput", "errors"]
primary = ["p99"]  # what the question is about
smallest = "5%"    # a smaller difference does not matter

[target]
url = "http://127.0.0.1:{{port}}"
# {origin} {_OTHERS}
start = {json.dumps(list(start.words), ensure_ascii=False)}
env = {{ PORT = "{{port}}" }}
# healthy = "/health"     load begins only after this path answers; by default after the port does

# Each commit is checked out into a folder of its own. Changes that are not committed are not in it.
[[variant]]
name = {_quoted(before)}
git = {_quoted(before)}

[[variant]]
name = {_quoted(after)}
git = {_quoted(after)}
changes = ""       # in words, for the report
"""


def _quoted(text: str) -> str:
    """A string of TOML, whose basic strings are written as those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _scenario(folder: Path) -> str:
    if (folder / "locustfile.py").is_file():
        return 'locustfile = "locustfile.py"'
    if (folder / "plan.toml").is_file():
        return 'plan = "plan.toml"'
    return 'url = "/"          # or locustfile = "locustfile.py", or plan = "plan.toml"'


def _commits(folder: Path) -> tuple[str, str]:
    """The main branch and the one that is checked out; the last commit and the one before, if these are the same."""
    try:
        branch = git(folder, "rev-parse", "--abbrev-ref", "HEAD")
        branches = git(folder, "branch", "--format=%(refname:short)").split()
        count = int(git(folder, "rev-list", "--count", "--max-count=2", "HEAD"))
    except CellError as error:
        raise UsageError(
            f"{folder}: two commits are compared, so it must be in a repository of git ({error})"
        ) from error
    main = next((name for name in MAIN_BRANCHES if name in branches), None)
    if main is not None and branch not in (main, "HEAD"):
        return main, branch
    if count < 2:
        raise UsageError(f"{folder}: two commits are compared, and its repository has only one")
    return "HEAD~1", "HEAD"


def _python(folder: Path) -> str:
    """That of the service's own environment, if it is in the folder: no checkout has it."""
    environment = next((name for name in (".venv", "venv") if (folder / name / "bin" / "python").exists()), None)
    return f"{{folder}}/{environment}/bin/python" if environment else "python3"


def _procfile(folder: Path) -> _Start | None:
    for line in _read(folder / "Procfile").splitlines():
        kind, colon, command = line.partition(":")
        if colon and kind.strip() == "web":
            return _Start(("sh", "-c", f"exec {command.strip()}"), "Procfile")
    return None


def _django(folder: Path) -> _Start | None:
    if not (folder / "manage.py").is_file():
        return None
    words = (_python(folder), "manage.py", "runserver", "--noreload", "127.0.0.1:{port}")
    return _Start(words, "manage.py, as Django's own server")


def _application(folder: Path) -> _Start | None:
    """A module with an application of a framework."""
    for name in ("main.py", "app.py", "application.py", "server.py", "api.py"):
        if found := _APPLICATION.search(_read(folder / name)):
            place = f"{name.removesuffix('.py')}:{found[1]}"
            is_flask = found[2] == "Flask"
            words = ("flask", "--app", place, "run") if is_flask else ("uvicorn", place)
            return _Start((_python(folder), "-m", *words, "--port", "{port}"), name)
    return None


def _node(folder: Path) -> _Start | None:
    try:
        package = json.loads(_read(folder / "package.json") or "{}")
    except ValueError:
        return None
    scripts = package.get("scripts") if isinstance(package, dict) else None
    has_start = isinstance(scripts, dict) and "start" in scripts
    return _Start(("npm", "start"), "package.json") if has_start else None


def _go(folder: Path) -> _Start | None:
    return _Start(("go", "run", "."), "go.mod") if (folder / "go.mod").is_file() else None


def _cargo(folder: Path) -> _Start | None:
    return _Start(("cargo", "run", "--release"), "Cargo.toml") if (folder / "Cargo.toml").is_file() else None


_FINDERS: tuple[Callable[[Path], _Start | None], ...] = (_procfile, _django, _application, _node, _go, _cargo)
"""What shows how a service starts, the surest first."""


def _read(path: Path) -> str:
    """The beginning of a text; "" for a file that cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""
