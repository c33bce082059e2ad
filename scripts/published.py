"""What is said of a release before it is built, and of its files once they are all there. Needs only Python.

python3 scripts/published.py tag v1.2.3      exits with 1 if the tag is not the version of the sources
python3 scripts/published.py checksums dist  writes SHA256SUMS there, of every other file
"""

from __future__ import annotations

import hashlib
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUMS = "SHA256SUMS"


def version() -> str:
    """That of the sources, which the wheels, the command and the container have."""
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    return str(workspace["package"]["version"])


def fault_of_tag(tag: str) -> str | None:
    """Why this tag cannot become a release."""
    if tag != f"v{version()}":
        return f"the tag is {tag} and Cargo.toml says {version()}: tag v{version()}, or change Cargo.toml first"
    if f"## {version()}" not in (ROOT / "CHANGELOG.md").read_text():
        return f"CHANGELOG.md has no heading for {version()}"
    return None


def write_checksums(folder: Path) -> int:
    """Write SHA256SUMS for `sha256sum -c`. Returns the number of its lines."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != SUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / SUMS).write_text("".join(lines))
    return len(lines)


def main(words: list[str]) -> int:
    match words:
        case ["tag", tag]:
            if (fault := fault_of_tag(tag)) is not None:
                print(f"published: {fault}", file=sys.stderr)
                return 1
            return 0
        case ["checksums", folder] if Path(folder).is_dir():
            print(f"{write_checksums(Path(folder))} files: {Path(folder) / SUMS}")
            return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
