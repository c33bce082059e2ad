"""Runs `plimsoll` under watch: what it writes, imports, starts, connects to and listens at."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HOOK = Path(__file__).with_name("watch")
TIMEOUT_S = 60.0
PAGE = re.compile(r"the page: (\S+)")
ASKED = ("state", "runs", "runs/{run}", "runs/{run}/html", "runs/{run}/run.json", "experiments", "experiments/{study}",
         "page", "report/html?ref={run}", "trend")  # fmt: skip
"""Pages of `plimsoll serve` below /api/ that are asked for."""
STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
STORE = "plimsoll.db"
"""SQLite changes this file, and others that begin so, when a store is opened."""
NOWHERE = (os.devnull, "/dev/tty")


@dataclass(frozen=True)
class Watched:
    """What a command said and did."""

    code: int
    words: str
    events: list[list[str]]
    changed: list[str]
    """Files that are new, gone or other than before: in the working folder, in the bait, and temporary ones that are
    left. Without the store's own."""

    def acts(self, written: Sequence[str] = (), listens: bool = False) -> Iterator[str]:
        """A sentence for each thing that a command which only reads must not do. written: names of files that its
        command line names. listens: it has a page on 127.0.0.1."""
        own = set(self._own(written))
        for event, *words in self.events:
            if event in STARTS and not _asks_for_commit(words):
                yield f"it started {words[0]} {words[1][:100]}"
            elif event == "write" and not (_is_free(words[0]) or words[0] in own):
                yield f"it opened {words[0]} to write"
            elif event in ("read", "import"):
                yield f"it {'read' if event == 'read' else 'imported'} {words[0]}"
            elif event == "socket.bind" and not (listens and "'127.0.0.1'" in words[1]):
                yield f"it listened at {words[1]}"
            elif event in ("socket.connect", "urllib.Request", "os.kill", "os.killpg"):
                yield f"it did {event} {' '.join(words)}"
        yield from (f"it changed {each}" for each in self.changed if Path(each).name not in written)

    def _own(self, written: Sequence[str]) -> Iterator[str]:
        """Paths that were opened to write these files: their own, those of the drafts that take their places once they
        are complete, and the folders of the drafts (tempfile reports the folder, and then the file)."""
        for path in (words[0] for event, *words in self.events if event == "write"):
            name = Path(path).name
            if name in written:
                yield path
            elif any(name.startswith(f".{file}.") for file in written):
                yield from (path, str(Path(path).parent))

    def reached(self) -> Iterator[str]:
        """A sentence for each thing that not even an agreed run may do: touch the bait, or listen to other machines."""
        for event, *words in self.events:
            if event in ("read", "import"):
                yield f"it {'read' if event == 'read' else 'imported'} {words[0]}"
            elif event == "socket.bind" and "'0.0.0.0'" in words[1]:
                yield f"it listened at {words[1]}"
        yield from (f"it changed {each}" for each in self.changed)


def _is_free(path: str) -> bool:
    """A device that keeps nothing, or a file of the store itself."""
    return path in NOWHERE or Path(path).name.startswith(STORE)


def _asks_for_commit(words: Sequence[str]) -> bool:
    """git says which commit a folder is at; it looks at no file for that."""
    return words[0] == "git" and "'rev-parse'" in words[1]


def watched(words: Sequence[str], folder: Path, bait: Path, *, run: str, study: str) -> Watched:
    """The command in this working folder, with no terminal. run, study: what the page is asked about."""
    log = folder.parent / "watch.log"
    log.unlink(missing_ok=True)
    home, temporary = folder.parent / "home", folder.parent / "temporary"
    home.mkdir(exist_ok=True)
    temporary.mkdir(exist_ok=True)
    own = ("LOCUST_", "PLIMSOLL_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(own)} | {
        "WATCH_LOG": str(log), "WATCH_BAIT": str(bait), "PYTHONPATH": str(HOOK), "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(home), "TMPDIR": str(temporary), "COLUMNS": "140",
    }  # fmt: skip
    before = _contents(folder, bait, temporary)
    process = subprocess.Popen(
        [sys.executable, "-c", "from plimsoll.cli import main; main(prog_name='plimsoll')", *words],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    )  # fmt: skip
    with process:
        try:
            said = _browse(process, run, study) if words[0] == "serve" else ""
            said += process.communicate(timeout=TIMEOUT_S)[0]
        except BaseException:
            process.kill()
            raise
    after = _contents(folder, bait, temporary)
    changed = sorted(each for each in before.keys() | after.keys() if before.get(each) != after.get(each))
    events = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    # What a command puts aside for itself is its own matter, if nothing of it is left.
    own_files = str(temporary)
    events = [each for each in events if not (each[0] == "write" and each[1].startswith(own_files))]
    return Watched(process.returncode, said, events, changed)


def _browse(process: subprocess.Popen[str], run: str, study: str) -> str:
    """Ask the page for all that it has, and end it. What the command said until then."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if found := PAGE.search(line):
            for each in ASKED:
                address = f"{found[1].rstrip('/')}/api/{each.format(run=run, study=study)}"
                with suppress(urllib.error.HTTPError), urllib.request.urlopen(address, timeout=TIMEOUT_S) as reply:
                    reply.read()
            process.send_signal(signal.SIGTERM)
            break
    return said


def _contents(*folders: Path) -> dict[str, str]:
    """The digests of all files but the store's own."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(STORE)
    }
