from benches.bars import Bar
from benches.cost import Case, Cost
from benches.open_model import Arrivals, OpenCase, OpenCost
from benches.results import Results
from benches.scale import Paced, ScaleCase, ScaleCost
from benches.subjects import Native, Wrk
from benches.table import render, table

MACHINE: dict[str, object] = {
    "cpu": "Some CPU", "cpus": 2, "system": "Some Linux", "kernel": "6.1", "python": "3.11", "commit": "abc",
}  # fmt: skip


def test_words_are_left_and_figures_right_in_text_and_in_markdown() -> None:
    text = table(("name", "µs"), [("a", "1.00"), ("longer", "12.00")])
    assert text.splitlines() == [
        "| name   |    µs |",
        "|--------|------:|",
        "| a      |  1.00 |",
        "| longer | 12.00 |",
    ]


def test_everything_that_was_found_or_missed_is_there() -> None:
    results = Results(MACHINE, "2026-01-02T03:04:05", "python -m benches", 5.0, versions={"wrk": "wrk 4.1"})
    results.add_group({Case(Wrk(), "/small", 50): [Cost(5.0, 0.0, 100_000.4, 3.2, 0.01)]})
    results.add_group({Case(Native(), "/large", 50): [Cost(6.0, 0.0, 90_000.0, 3.2, 0.01)]})
    results.instructions = 12_345.6
    results.missing.append("locust: not there")
    text = render(
        results, [Bar("a bar", 1.2, 1.0, "× wrk", interval=(1.1, 1.3)), Bar("another", 20.0, 15.0, "×", True)]
    )
    assert "`python -m benches` on 2026-01-02T03:04:05: Some CPU, 2 CPUs" in text
    assert cells(text, "wrk") == ["100 bytes", "50", "5.00", "–", "1.00", "100,000", "3"]
    assert cells(text, "plimsoll native users") == ["27,601 bytes", "50", "6.00", "–", "–", "90,000", "3"]
    assert "12,346 instructions per exchange" in text
    assert "| a bar   | 1.20 [1.10, 1.30] × wrk | ≤ 1   | MISSES  |" in text
    assert "| another | 20.00 ×                 | ≥ 15  | holds   |" in text
    assert "Not measured: locust: not there" in text


def test_a_busy_machine_is_a_reason_to_doubt() -> None:
    results = Results(MACHINE, "2026-01-02T03:04:05", "python -m benches", 5.0)
    quiet, busy = (Cost(5.0, 0.0, 100_000.0, 3.0, others_cpus=cpus) for cpus in (0.05, 0.5))
    results.add_group({Case(Wrk(), "/small", 50): [quiet]})
    assert "Doubtful" not in render(results, [])
    results.add_group({Case(Wrk(), "/large", 50): [busy, busy]})
    assert "other work took 0.50 CPUs meanwhile" in render(results, [])


def cells(text: str, first: str) -> list[str]:
    """The other cells of the line that begins with `first`."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {first} "))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_arrivals_and_many_users_have_tables_of_their_own() -> None:
    results = Results(MACHINE, "2026-01-02T03:04:05", "python -m benches", 5.0)
    for rate in (10_000, 1_000):
        case = OpenCase(Arrivals("plimsoll run URL", rate))
        results.add_open(case, OpenCost(0.0124, 0.25, 3.0, 0.5, 0.9987, 8.5, 8.25, 0.0))
    many = ScaleCase(Paced("plimsoll native users", None), 100_000)
    results.add_scale(many, ScaleCost(0.75, 1_234.4, 31.25, 1_999.6, 0, 6, 0.5, 0.0))
    text = render(results, [])
    head = cells(text, "open model")
    assert cells(text, "plimsoll run URL") == ["1,000", "99.9%", "0.012", "0.250", "3.000", "0.500", "8.50", "0.25"]
    assert len(head) == 8
    assert text.index("|      1,000 |") < text.index("|     10,000 |")
    assert cells(text, "plimsoll native users") == ["100,000", "0.8", "1,234", "2,000", "31.2", "0.500", "0", "6"]
    assert len(cells(text, "many users")) == 8
