"""The results' places in README.md: between markers, so that their figures are always those of one run."""

from pathlib import Path

README = Path(__file__).resolve().parent / "README.md"


def splice(section: str, text: str, readme: Path = README) -> None:
    """Replace what stands between the section's markers. Raises ValueError when the file lacks them."""
    begin = f"<!-- {section}: written by `python -m labs.truth --readme` -->\n"
    end = f"<!-- end of {section} -->\n"
    before, found, rest = readme.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"{readme} lacks the markers of {section}")
    readme.write_text(f"{before}{begin}\n{text}\n{end}{after}")
