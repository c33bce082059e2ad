"""The commands of README and the guides, and the outputs that these show: `python -m scripts.documents` (`make
docs-outputs`) runs every command and writes the lines that it printed in place of those that a document shows.

A document shows some of the lines that a command prints. A line is known by its words; the numbers in it are new each
time. Exits with 1 if a shown line is not printed any more; that line stays as it is. `tests/docs` runs the same.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
# The package of extend.md has a test of its own.
DOCUMENTS = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs" / "guides").glob("*.md")) if path.name != "extend.md"),
]
SERVICE = "http://127.0.0.1:8000"
"""What the documents call the service; here it has the port that was free."""
TIMEOUT_S = 300.0
"""For one command, on a machine that does other things, too."""

FENCE = re.compile(
    r"(?:^<!-- exit (?P<exits>[\d or]+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_FILE = re.compile(r"(?:#|//) ([\w.-]+\.(?:py|toml|txt|csv|json|proto))\n")


@dataclass(frozen=True)
class ShownCommand:
    """One `$ plimsoll …` or `$ python …` line, and the lines of output that a document shows under it."""

    line: str
    output: tuple[str, ...]
    exits: frozenset[int]
    """Exit codes that it may have; `<!-- exit 1 -->` before the fence says so when it is not 0."""


@dataclass(frozen=True)
class CommandOutput:
    """What a command of a document printed."""

    code: int
    lines: tuple[str, ...]

    def shown(self, expected: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """The printed lines of these words, in this order, and those of the expected ones that were not printed."""
        printed, found, missing = iter(self.lines), [], []
        for line in expected:
            rest = list(printed)
            at = next((number for number, text in enumerate(rest) if shape(text) == shape(line)), None)
            if at is None:
                missing.append(line)
            found.append(line if at is None else rest[at].rstrip())
            printed = iter(rest if at is None else rest[at + 1 :])
        return found, missing


def shape(line: str) -> str:
    """What stays the same from run to run: words, and where a number stands; not the marks of the generator's share."""
    words = " ".join(re.sub("[\u00a0\u202f]", "", line).split())
    return re.sub(r"-{4,}", "----", re.sub(r"\d[\d.]*\*?", "#", words))


@contextlib.contextmanager
def todos_service() -> Iterator[str]:
    """The URL of the todos service of labs/todos on a real PostgreSQL, as a reader would have it on port 8000."""
    command = [sys.executable, "-m", "labs.todos.lab"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as lab:
        assert lab.stdout is not None
        line = lab.stdout.readline()
        assert line, "the todos lab did not start; its own words are above"
        try:
            yield line.split()[2]
        finally:
            lab.terminate()


def ran(text: str, url: str, folder: Path) -> Iterator[tuple[re.Match[str], ShownCommand, CommandOutput]]:
    """Do what a reader of a document does who copies all of it: blocks of code are saved in the folder under the name
    that the document gives them, and the commands run there. The block of each command, the command, its output."""
    for block in FENCE.finditer(text):
        if name := _FILE.match(block["text"]):
            (folder / name[1]).write_text(block["text"].replace(SERVICE, url))
        elif block["language"] == "python":
            (folder / "locustfile.py").write_text(block["text"])
        elif block["language"] == "sh":
            for command in shown_commands(block):
                yield block, command, run(command, url, folder)


def shown_commands(block: re.Match[str]) -> list[ShownCommand]:
    """Those of one `sh` block."""
    exits = frozenset(int(code) for code in re.findall(r"\d+", block["exits"] or "0"))
    found: list[tuple[str, list[str]]] = []
    for line in block["text"].splitlines():
        if line.startswith(("$ plimsoll ", "$ python ")):
            found.append((line.removeprefix("$ "), []))
        elif found:
            found[-1][1].append(line)
    return [ShownCommand(line, tuple(output), exits) for line, output in found]


def run(command: ShownCommand, url: str, folder: Path) -> CommandOutput:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
        # A machine that tests run on is rarely fit to measure on.
        "PLIMSOLL_EXIT_CODE_ON_INVALID": "0",
    }
    done = subprocess.run(
        shlex.split(command.line.replace(SERVICE, url)), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=TIMEOUT_S,
    )  # fmt: skip
    return CommandOutput(done.returncode, tuple(done.stdout.replace(url, SERVICE).splitlines()))


def renewed(text: str, url: str, folder: Path) -> tuple[str, list[str]]:
    """A document with the outputs of now, and what is stale: shown lines that are not printed, other exit codes."""
    stale, blocks = [], {block.span("text"): block["text"] for block in FENCE.finditer(text)}
    for block, command, output in ran(text, url, folder):
        lines, missing = output.shown(command.output)
        stale += [f"$ {command.line}\n  does not print: {line}" for line in missing]
        if output.code not in command.exits:
            stale.append(f"$ {command.line}\n  exits with {output.code}")
        shown = "".join(f"{line}\n" for line in (f"$ {command.line}", *command.output))
        new = "".join(f"{line}\n" for line in (f"$ {command.line}", *lines))
        blocks[block.span("text")] = blocks[block.span("text")].replace(shown, new, 1)
    for (start, end), new in reversed(blocks.items()):
        text = text[:start] + new + text[end:]
    return text, stale


def main() -> int:
    everything = []
    with todos_service() as url:
        for path in DOCUMENTS:
            print(path.relative_to(ROOT), file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(prefix="plimsoll-docs-") as folder:
                text, stale = renewed(path.read_text(), url, Path(folder))
            path.write_text(text)
            everything += [f"{path.relative_to(ROOT)}: {line}" for line in stale]
    print("\n".join(everything) or "every shown line is printed")
    return 1 if everything else 0


if __name__ == "__main__":
    sys.exit(main())
