"""The results' place in README.md: between two markers, so that its figures are always those of one run."""

from pathlib import Path

README = Path(__file__).resolve().parent / "README.md"
BEGIN = "<!-- results: written by `python -m benches --readme` -->\n"
END = "<!-- end of results -->\n"


def splice(text: str, readme: Path = README) -> None:
    """Replace what stands between the markers. Raises ValueError when the file lacks them."""
    before, begin, rest = readme.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{readme} lacks the markers of the results")
    readme.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
