"""`python -m plimsoll`: the command, in this interpreter."""

from __future__ import annotations

from plimsoll.cli import main

if __name__ == "__main__":
    main(prog_name="plimsoll")
