"""Known weaknesses of what a release brings along, by the advisory databases of crates, PyPI and npm."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LIMIT_S = 300


@dataclass(frozen=True, slots=True)
class Audit:
    name: str
    command: tuple[str, ...]
    """Prints JSON, and ends with another status than 0 when there are advisories."""
    answer: str
    """The field that only an answer of the database has; a failure has none, or no JSON at all."""


AUDITS = (
    Audit("cargo audit", ("cargo", "audit", "--json"), "vulnerabilities"),
    Audit("pip-audit", (sys.executable, "-m", "pip_audit", "--local", "--skip-editable", "-f", "json"), "dependencies"),
    Audit("npm audit", ("npm", "--prefix", "web", "audit", "--omit=dev", "--json"), "vulnerabilities"),
)


def audit(root: Path, audits: Sequence[Audit] = AUDITS) -> tuple[list[str], list[str]]:
    """(advisories that were found, databases that were not asked), a line each."""
    found, unknown = [], []
    for each in audits:
        try:
            done = subprocess.run(each.command, cwd=root, capture_output=True, text=True, timeout=LIMIT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            unknown.append(f"{each.name} did not run: {error}")
            continue
        if not _is_answer(done.stdout, each.answer):
            reason = next((line for line in done.stderr.splitlines() if line.strip()), "no answer")
            unknown.append(f"{each.name} did not reach its advisory database: {reason.strip()}")
        elif done.returncode:
            found.append(f"{each.name} knows advisories: run {' '.join(each.command)}")
    return found, unknown


def _is_answer(text: str, field: str) -> bool:
    try:
        return field in json.loads(text)
    except (ValueError, TypeError):
        return False
