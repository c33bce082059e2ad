"""Are Plimsoll's figures true? Compares each with a known one: `python -m labs.truth [--only WORDS]`

Prints one table. The exit status is 1 if a line fails, 3 if none fails but something could not be checked, else 0.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from benches import machine
from benches.readme import splice

from .checks import CHECKS
from .errors import NotJudgedError, TruthError
from .lab import Lab, open_lab
from .line import Line, Verdict, not_judged
from .peers import runs
from .peers import table as peers_table
from .table import folded, render

README = Path(__file__).resolve().parent / "README.md"
FAILED, NOT_JUDGED, INTERRUPTED = 1, 3, 130


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.truth", description=__doc__)
    parser.add_argument("--only", metavar="WORDS", help='only checks whose name has one of these; "" for none')
    parser.add_argument("--quick", action="store_true", help="shorter runs, and fewer of them")
    parser.add_argument("--peers", action="store_true", help="other load generators against the same target as well")
    parser.add_argument("--readme", action="store_true", help="put the tables into labs/truth/README.md")
    arguments = parser.parse_args()
    words = [""] if arguments.only is None else arguments.only.split()
    chosen = [name for name in CHECKS if any(word in name for word in words)]
    if not chosen and not arguments.peers:
        parser.error(f"no check is called so; there are {', '.join(CHECKS)}")
    try:
        with open_lab(arguments.quick) as lab:
            lines = [line for name in chosen for line in run(lab, name)]
            peers = peers_table.render(runs.measure(lab)) if arguments.peers else ""
    except TruthError as error:
        print(f"truth lab: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    print("\n\n".join(text for text in (header(), render(lines) if lines else "", peers) if text))
    if arguments.readme:
        for section, text in (("checks", render(folded(lines)) if lines else ""), ("peers", peers)):
            if text:
                splice(f"{header()}\n\n{text}", README, section, "python -m labs.truth --readme")
    verdicts = {line.verdict for line in lines}
    return FAILED if Verdict.FAILS in verdicts else NOT_JUDGED if Verdict.NOT_JUDGED in verdicts else 0


def run(lab: Lab, name: str) -> Iterator[Line]:
    """The lines of one check."""
    for case in CHECKS[name](lab):
        print(case.name, file=sys.stderr)
        try:
            yield from list(case.judge())
        except NotJudgedError as why:
            yield not_judged(case.name, str(why))


def header() -> str:
    """What was run, where and when."""
    facts = machine.facts()
    before = ["chrt -r 1"] if os.sched_getscheduler(0) == os.SCHED_RR else []
    command = " ".join([*before, "python -m labs.truth", *sys.argv[1:]])
    return (
        f"`{command}` on {datetime.now().isoformat(timespec='seconds')}: {facts['cpu']}, {facts['cpus']} CPUs, "
        f"{facts['system']}, Linux {facts['kernel']}, Python {facts['python']}, commit {facts['commit']}."
    )


if __name__ == "__main__":
    sys.exit(main())
