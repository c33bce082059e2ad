"""Every `$ plimsoll …` in README and the guides is run, as a reader would who copied it."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
# The package of extend.md has a test of its own.
DOCUMENTS = [ROOT / "README.md", *(path for path in GUIDES if path.name != "extend.md")]
SERVICE = "http://127.0.0.1:8000"
"""What the documents call the service; here it has the port that was free."""

FENCE = re.compile(
    r"(?:^<!-- exit (?P<exits>[\d or]+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass
class Command:
    """One `$ plimsoll …` or `$ python …` line, and the lines of output that a document shows under it."""

    line: str
    output: list[str]
    exits: set[int]
    """Exit codes that it may have; `<!-- exit 1 -->` before the fence says so when it is not 0."""


def commands(text: str, exits: set[int]) -> list[Command]:
    """Those of one `sh` block."""
    found: list[Command] = []
    for line in text.splitlines():
        if line.startswith(("$ plimsoll ", "$ python ")):
            found.append(Command(line.removeprefix("$ "), [], exits))
        elif found:
            found[-1].output.append(line)
    return found


def shape(line: str) -> str:
    """What stays the same from run to run: words, and where a number stands; not the marks of the generator's share."""
    words = " ".join(re.sub("[\u00a0\u202f]", "", line).split())
    return re.sub(r"-{4,}", "----", re.sub(r"\d[\d.]*\*?", "#", words))


def run(command: Command, url: str, folder: Path) -> None:
    """Do what the reader does, and see what the document shows: these lines in this order, perhaps with others."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
        # A machine that tests run on is rarely fit to measure on.
        "PLIMSOLL_EXIT_CODE_ON_INVALID": "0",
    }
    done = subprocess.run(
        shlex.split(command.line.replace(SERVICE, url)), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=60,
    )  # fmt: skip
    output = f"$ {command.line}\nexit {done.returncode}\n{done.stdout}"
    assert done.returncode in command.exits, output
    assert "Traceback" not in done.stdout, output
    lines = iter([shape(line) for line in done.stdout.splitlines()])
    for expected in command.output:
        assert shape(expected) in lines, f"missing, or not in this order: {expected}\n{output}"


@pytest.mark.long
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_commands_of_a_document_do_what_it_says(document: Path, todos_url: str, tmp_path: Path) -> None:
    """Python blocks are saved under the name that the documents give them; then the commands run in that folder."""
    ran = 0
    for block in FENCE.finditer(document.read_text()):
        if name := re.match(r"(?:#|//) ([\w.-]+\.(?:py|toml|txt|csv|json|proto))\n", block["text"]):
            (tmp_path / name[1]).write_text(block["text"].replace(SERVICE, todos_url))
        elif block["language"] == "python":
            (tmp_path / "locustfile.py").write_text(block["text"])
        elif block["language"] == "sh":
            for command in commands(block["text"], {int(code) for code in re.findall(r"\d+", block["exits"] or "0")}):
                run(command, todos_url, tmp_path)
                ran += 1
    assert ran, "a document without commands would test nothing"


def test_every_relative_link_leads_somewhere() -> None:
    for document in [*DOCUMENTS, *ROOT.glob("docs/*.md"), ROOT / "CONTRIBUTING.md", *ROOT.glob("labs/*/README.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} → {target}"
