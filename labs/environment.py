"""The environment of the services that labs load: their libraries are not those of Plimsoll."""

from pathlib import Path

PYTHON = Path(__file__).resolve().parent / ".venv" / "bin" / "python"
"""Made by `make setup` from requirements.txt beside this file."""
