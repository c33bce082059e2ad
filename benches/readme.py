"""Inserts results in a README.md between two markers, so that its figures always come from one run."""

from pathlib import Path

README = Path(__file__).resolve().parent / "README.md"


def splice(
    text: str, readme: Path = README, section: str = "results", command: str = "python -m benches --readme"
) -> None:
    """Replace the text between the section's markers. Raises ValueError if the file lacks them."""
    begin, end = markers(section, command)
    before, found, rest = readme.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"{readme} lacks the markers of {section}")
    readme.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def markers(section: str = "results", command: str = "python -m benches --readme") -> tuple[str, str]:
    """command: the command that writes the section."""
    return f"<!-- {section}: written by `{command}` -->\n", f"<!-- end of {section} -->\n"
