"""The command `plimsoll`, also as `python -m plimsoll`."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        # Only here: Ctrl-C may come while the command is imported.
        from plimsoll.cli import main as command
    except KeyboardInterrupt:
        print("plimsoll: interrupted", file=sys.stderr)
        sys.exit(130)
    command(prog_name="plimsoll")


if __name__ == "__main__":
    main()
