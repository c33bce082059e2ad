"""What a case is: a locustfile, or a folder with one, whose first comments say how it is run and what is compared.

    # run: -u 1                     a run; several have names: `# run tags: -T a`
    # env: LOCUST_USERS=2           an environment variable of every run
    # compare: stdout log           besides what is always compared: what is printed, or what is logged
    # option: unordered bare …      see `OPTIONS`
    # needs: mosquitto paho.mqtt    programs and Python modules without which the runs are skipped

`{target}` in them is the target's URL, `{here}` the folder of the case's files.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).with_name("cases")

LINE = re.compile(r"# (run|env|compare|option|needs)(?: ([\w-]+))?: ?(.*)")

OPTIONS = {
    "unordered": "several users: what they do comes in any order",
    "bare": "the command line is only what `# run:` says; else -f, -H and --headless come first",
    "csv": "with --csv; the case itself waits until Locust has written its files, which it does once a second",
    "alone": "while no other run is carried out: it needs a fixed port, or the processor for itself",
    "script": "run as `python locustfile.py …`, under Plimsoll as `plimsoll python locustfile.py …`",
    "times": "response times are given by the case itself, so that columns of times are compared as well",
}

COMPARABLE = ("stdout", "log", "main-log", "files")


class CaseError(Exception):
    """A case's first comments make no sense."""


@dataclass(frozen=True)
class Run:
    """One command line of a case."""

    name: str
    """`group/case`, or `group/case[run]`."""
    path: Path
    """Of the locustfile, or of the folder."""
    arguments: tuple[str, ...]
    env: dict[str, str]
    compare: frozenset[str]
    options: frozenset[str]
    needs: tuple[str, ...] = ()
    """Programs on the PATH, or modules that both tools can import."""

    @property
    def file(self) -> str:
        """What it belongs to, without the run's own name."""
        return self.name.partition("[")[0]


def all_runs() -> list[Run]:
    """Every run of every case, by name."""
    files = [path for path in CASES.glob("*/*.py") if path.name != "__init__.py"]
    folders = [path.parent for path in CASES.glob("*/*/main.py")]
    return [run for path in sorted(files + folders) for run in _runs(path)]


def _runs(path: Path) -> list[Run]:
    main = path / "main.py" if path.is_dir() else path
    name = f"{path.parent.name}/{path.stem}"
    runs: list[tuple[str, tuple[str, ...]]] = []
    words: dict[str, list[str]] = {"env": [], "compare": [], "option": [], "needs": []}
    for line in main.read_text().splitlines():
        if not (found := LINE.fullmatch(line)):
            continue
        key, own, rest = found.groups()
        if key == "run":
            runs.append((f"{name}[{own}]" if own else name, tuple(shlex.split(rest))))
        else:
            words[key] += shlex.split(rest)
    for known, key in ((COMPARABLE, "compare"), (OPTIONS, "option")):
        if unknown := set(words[key]) - set(known):
            raise CaseError(f"{main}: {key} knows no {', '.join(sorted(unknown))}")
    if len({own for own, _ in runs}) < len(runs):
        raise CaseError(f"{main}: two runs of the same name")
    env = dict(word.split("=", 1) for word in words["env"])
    compare, options = frozenset(words["compare"]), frozenset(words["option"])
    needs = tuple(words["needs"])
    return [Run(own, path, arguments, env, compare, options, needs) for own, arguments in runs or [(name, ())]]
