"""Make and prove scenarios of real applications: `python -m tests.scenarios [NAME…] [--keep FOLDER] [--compare]`

The output is a table for docs/guides/scenario.md. The exit code is 1 if a scenario is not proven, or takes a value from
the wrong place.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.scenarios.applications import APPLICATIONS
from tests.scenarios.proof import Outcome, proven_scenario


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.scenarios", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these applications; all by default")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep recordings and plans in a new folder")
    parser.add_argument("--compare", action="store_true", help="also what har2locust makes of the first recordings")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(APPLICATIONS)
    if unknown:
        sys.exit(f"scenarios: no application is called {min(unknown)}; there are {', '.join(APPLICATIONS)}")
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="plimsoll-scenarios-") as name:
        for key in arguments.names or APPLICATIONS:
            if not APPLICATIONS[key].is_installed:
                sys.exit(f"scenarios: {APPLICATIONS[key].name} is missing; `make scenarios` installs it")
            folder = (arguments.keep or Path(name)) / key
            folder.mkdir(parents=True)
            outcome = proven_scenario(APPLICATIONS[key], folder, compare=arguments.compare)
            outcomes.append(outcome)
            if not outcome.is_whole:
                print(f"{key}: wrong: {outcome.wrong}, missed: {outcome.missed}, {outcome.last_pass}")
                print("\n".join((*outcome.differing, outcome.explanation)), flush=True)
    print("| application | what it shows | steps | values from replies | wrong | missed | proven |")
    print("|---|---|---|---|---|---|---|")
    for outcome in outcomes:
        print(outcome.row)
    if arguments.compare:
        print("\n| application | values from replies | by har2locust | its requests | refused |\n|---|---|---|---|---|")
        print("\n".join(outcome.comparison for outcome in outcomes))
    return 0 if all(outcome.is_whole for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
