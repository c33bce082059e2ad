"""Make the report of a lab: `python -m labs.run NAME [--full]`, from the repository's root.

Runs the experiments of the lab one after the other and writes REPORT.md, its charts and report.html. --full takes the
published report's own ladder, lengths and repeats, and writes beside the short ones.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXPERIMENTS = {
    "forum": ("experiment", "server_view", "accounts"),
    "keys": ("experiment", "test_data"),
    "todos": ("experiment", "same_work", "async"),
    "tunnels": ("spike", "pressure"),
}
"""The experiments of each lab, in the order of its report. The first one answers the lab's question."""
GOOD = (0, 3)
"""Exit codes with results for a report. Some cells may be invalid: that is a result too."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.run", description=__doc__)
    parser.add_argument("lab", choices=EXPERIMENTS)
    parser.add_argument("--full", action="store_true", help="at the length of the published report")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    folder = Path("labs", arguments.lab)
    store = folder / ("full.db" if arguments.full else "lab.db")
    report = folder / ("REPORT-full.md" if arguments.full else "REPORT.md")
    charts = folder / ("charts-full" if arguments.full else "charts")
    names = []
    for name in EXPERIMENTS[arguments.lab]:
        file = folder / f"{name}.toml"
        words = ["--full"] if arguments.full else []
        status = _plimsoll("experiment", str(file), "--fresh", "--yes", *words, "--store", str(store))
        if status not in GOOD:
            return status
        names.append(_name_of(file))
    _prepare(report, arguments.lab, names)
    for name in names:
        _plimsoll("report", name, "--splice", str(report), "-o", f"{charts / name}/", "--store", str(store))
    _plimsoll("report", names[0], "-o", str(report.with_suffix(".html")), "--store", str(store))
    print(report)
    return 0


def _plimsoll(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", "plimsoll", *words], check=False).returncode


def _name_of(file: Path) -> str:
    lines = file.read_text().splitlines()
    return next(line.split('"')[1] for line in lines if line.startswith("name = "))


def _prepare(report: Path, lab: str, names: list[str]) -> None:
    """Adds an empty block for each experiment that has none."""
    text = report.read_text() if report.exists() else ""
    for name in names:
        if f"<!-- plimsoll:begin {name}:" not in text and f"<!-- plimsoll:begin {name} " not in text:
            text += f"<!-- plimsoll:begin {name} -->\n<!-- plimsoll:end {name} -->\n\n"
    ending = f"The [README](README.md) says what was asked, and how. `make lab-{lab}` makes this report again.\n"
    report.write_text(text if ending in text else f"{text}{ending}")


if __name__ == "__main__":
    sys.exit(main())
