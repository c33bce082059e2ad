"""A store from another person, and any verb: it is data, so no verb does what it names."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread

from ..hostile import NOBODY, STUDY, TEMPTATIONS, Temptation, build, damaged, lay_bait
from ..judgement import Judgement
from ..watched import Watched, watched

REPORTS = ("report.md", "report.html", "run.json", "run.csv")
"""Names of files that the command lines below name."""
SEARCH = ("capacity", f"{NOBODY}/", "--slo", "p99 < 1s", "--name", STUDY, "--to", "10", "-t", "1s")
VERBS: dict[str, tuple[tuple[str, ...], ...]] = {
    "run": (("run", "--attach", "last", "--headless"),),
    "experiment": (("experiment", ".", "--resume", "--dry-run"), ("experiment", ".", "--aa", "a", "--dry-run")),
    "stop": (("stop",), ("stop", "last", "--no-wait")),
    "reproduce": (("reproduce",), ("reproduce", "last", "--dry-run")),
    "runs": (("runs",), ("runs", "--json"), ("runs", "--experiments"), ("runs", "--otava")),
    "show": (("show",), ("show", "--json")),
    "capacity": ((*SEARCH, "--resume"),),
    "serve": (("serve", "--web-port", "0"),),
    "report": (
        ("report", "last"), ("report", STUDY), ("report", STUDY, "-o", "report.html"),
        ("report", "last", "-o", "report.md"),
    ),
    "compare": (("compare", "last", "last"), ("compare", STUDY, "last")),
    "export": (
        ("export", "--format", "html", "-o", "-"), ("export", "--format", "run.json", "-o", "run.json"),
        ("export", "--format", "csv", "-o", "run.csv"),
    ),
    "import": (("import", "results.csv"), ("import", "results.csv", "--name", STUDY, "--dry-run")),
    "schema": (), "demo": (), "scenario": (), "record": (), "python": (), "cluster": (), "doctor": (), "completion": (),
}  # fmt: skip
"""The command lines of each verb. Those without any read no store."""
AGREED = ("reproduce", "last", "--yes")
"""Done only for a store without commands: those are run then, as they were shown."""
EXIT_CODES = (0, 1, 2, 3)


def trial(folder: Path, chance: Random) -> Judgement:
    """One thing that a store asks for, and one command."""
    name = chance.choice([*TEMPTATIONS, *["a damaged value"] * 5])
    temptation = TEMPTATIONS.get(name) or damaged(chance)
    commands = [each for verb in VERBS.values() for each in verb] + [AGREED] * 5 * (not temptation.has_commands)
    return judged(folder, name, temptation, chance.choice(commands))


def judged(folder: Path, name: str, temptation: Temptation, words: tuple[str, ...]) -> Judgement:
    """folder: an empty one."""
    work, bait = folder / "work", folder / "bait"
    work.mkdir()
    with _target() as url:
        lay_bait(bait, url)
        run = build(work, bait, url, temptation)
        done = watched(words, work, bait, run=run, study=STUDY)
    return Judgement(f"{name}, plimsoll {' '.join(words)}", list(broken(done, words)), done.words)


@contextmanager
def _target() -> Iterator[str]:
    """A target that answers; its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *_: object) -> None:
        """Nobody reads it."""


def broken(done: Watched, words: tuple[str, ...]) -> Iterator[str]:
    """A sentence for each guarantee that the command broke."""
    if done.code not in EXIT_CODES:
        yield f"the exit code is {done.code}"
    if "Traceback (most recent call last)" in done.words or "panicked" in done.words:
        yield "a traceback is shown"
    if "\x1b" in done.words or "\0" in done.words:
        yield "control characters are shown"
    yield from done.reached() if words == AGREED else done.acts(REPORTS, listens=words[0] == "serve")
