"""docs/findings.md names every finding that there is, and no other."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "python" / "plimsoll" / "stats" / "findings"


def test_every_finding_is_in_the_documentation() -> None:
    source = "".join(path.read_text() for path in FOLDER.rglob("*.py"))
    made = set(re.findall(r'"([A-Z]{2,}(?:-[A-Z]+)*)"', source))
    rows = re.findall(r"^\| ([A-Z][A-Z, -]+) \|", (ROOT / "docs" / "findings.md").read_text(), re.MULTILINE)
    documented = {name for row in rows for name in row.split(", ")}
    assert documented == made & documented
    assert made - documented <= {"GET", "POST", "NO", "ONE"}, made - documented
