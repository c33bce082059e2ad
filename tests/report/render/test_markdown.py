"""How the blocks of a report become Markdown, and that every number of it is in the JSON."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.report.studies import SAMPLES, chain, ladder, rates

from plimsoll.report.document.blocks import (
    Block,
    ChartSpec,
    Details,
    Figures,
    Findings,
    NamedValue,
    Paragraph,
    Preformatted,
    ReportDocument,
    Section,
    ShownFinding,
    TableBlock,
    TableColumn,
    TableData,
    TableRow,
)
from plimsoll.report.document.study import study_document
from plimsoll.report.render.analysis_json import document
from plimsoll.report.render.markdown import escape, markdown
from plimsoll.report.text import cells
from plimsoll.stats.analysis import Analysis


def report(*blocks: Block, sections: tuple[Section, ...] = ()) -> ReportDocument:
    chart = ChartSpec("verdicts", "Verdicts", "", {}, 1)
    return ReportDocument("A", ("line",), blocks, sections, (chart,), {}, "")


def drawn(*blocks: Block, **how) -> str:
    return markdown(report(*blocks), **how).removeprefix("# A\n\nline\n\n")


def of_study(analysis: Analysis) -> str:
    return markdown(study_document(analysis, scope="text", charts=False))


def finding(statement: str) -> ShownFinding:
    return ShownFinding("SAT", "insight", "insight", statement, "a", "r", "", (NamedValue("knee", "3"),), ())


def test_findings_say_their_rule_once_and_fold_away_those_alike():
    assert drawn(Findings((finding("one"), finding("two")), (finding("three"),))) == (
        "- **SAT, insight:** one\n"
        "  - Evidence: knee 3.\n"
        "  - Rule: r\n"
        "  - What to do: a\n"
        "- **SAT, insight:** two\n"
        "  - Evidence: knee 3.\n\n"
        "<details><summary>1 more of the same rules</summary>\n\n"
        "- **SAT, insight:** three\n"
        "  - Evidence: knee 3.\n\n"
        "</details>\n"
    )


def test_tables_and_pictures():
    rows = (TableRow(("a|b", "1")), TableRow(("`c`", "22")))
    table = TableData("Caption", (TableColumn("Name", is_text=True), TableColumn("n")), rows)
    assert drawn(TableBlock(table), Figures(("verdicts", "gone")), images={"verdicts": "verdicts.svg"}) == (
        "**Caption**\n\n"
        "| Name  |   n |\n"
        "| ----- | --: |\n"
        "| a\\|b  |   1 |\n"
        "| \\`c\\` |  22 |\n\n"
        "![Verdicts](verdicts.svg)\n"
    )


def test_as_a_part_of_another_document_it_has_no_title_and_its_headings_are_deeper():
    level = Details("C", (Paragraph("p"),), is_level=True)
    found = report(sections=(Section("b", "B", (level,)), Section("n", "N", (Figures(("gone",)),))))
    assert markdown(found, under=2) == "line\n\n### B\n\n#### C\n\np\n"
    assert markdown(found, under=6) == "line\n\n###### B\n\n###### C\n\np\n"
    assert markdown(found).startswith("# A\n\nline\n\n## B\n\n### C\n")


def test_verbatim_lines_cannot_end_their_fence():
    assert drawn(Preformatted("a\n```\n</details>")) == "````text\na\n```\n</details>\n````\n"
    assert drawn(Details("plan of <b>", (Preformatted("x"),))) == (
        "<details><summary>plan of &lt;b&gt;</summary>\n\n```text\nx\n```\n\n</details>\n"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/keys/[id]", r"/keys/\[id\]"),
        ("[link](http://x)", r"\[link\](http://x)"),
        ("×1.05 [0.98, 1.13]", "×1.05 [0.98, 1.13]"),
        ("a_b_c", "a_b_c"),
        ("_a_ *b* ~c~", r"\_a\_ \*b\* \~c\~"),
        ("<script>&amp;", "&lt;script&gt;&amp;amp;"),
        ("a\\|b`c`", r"a\\\|b\`c\`"),
        ("ask @ann or #12, a@b", "ask @<!-- -->ann or #<!-- -->12, a@b"),
        ("two\nlines\t here", "two lines here"),
    ],
)
def test_text_of_others_formats_nothing(text, shown):
    assert escape(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"), [("- a", r"\- a"), ("1. a", r"1\. a"), ("# a", r"\# a"), ("1.5 a", "1.5 a"), ("-5", "-5")]
)
def test_a_paragraph_is_no_list(text, shown):
    assert drawn(Paragraph(text)) == f"{shown}\n"


@pytest.mark.parametrize("name", SAMPLES)
def test_tables_are_aligned_and_whole(name):
    lines = of_study(SAMPLES[name]()).splitlines()
    fenced = False
    tables: list[list[str]] = [[]]
    for line in lines:
        fenced ^= line.startswith("```")
        if line.startswith("|") and not fenced:
            tables[-1].append(line)
        elif tables[-1]:
            tables.append([])
    found = [table for table in tables if table]
    assert len(found) > 1
    for table in found:
        bars = [[cells(line[: bar.start()]) for bar in re.finditer(r"(?<!\\)\|", line)] for line in table]
        assert all(each == bars[0] for each in bars), table


def test_what_a_target_calls_itself_stays_text():
    text = of_study(rates())
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert "<script>" not in outside
    assert "&lt;script&gt;" in outside


def test_the_answer_comes_first_and_details_are_folded():
    text = of_study(chain())
    parts = (
        "**Answer.**",
        "Measured: ",
        "## Summary",
        "\n| ",
        "**Be careful**",
        "## Details",
        "<details>",
        "## Evidence",
    )
    order = [text.index(part) for part in parts]
    assert order == sorted(order)
    assert text.index("**Answer.**") < 200


def test_names_in_the_answer_are_code():
    assert "**Answer.** `index` made no difference that matters in p99 (less than 5 % either way)." in of_study(chain())


def test_a_comparison_is_a_row():
    row = (
        r"\| 162 users \| GET /threads/\{id\} \| p99, ms ● +\| +456 \| +523 "
        r"\| +\+15 % \| +×1\.15 \[1\.11, 1\.18\] \| +\+15 %, unclear"
    )
    assert re.search(row, of_study(ladder()))


def test_a_chain_is_a_journal():
    text = of_study(chain())
    section = text[text.index("## Details") : text.index("## Evidence")]
    assert re.search(r"\| async +\| async handlers +\|", text)
    assert "| baseline, rows at the end   | 2600  |" in section
    assert "<details><summary>explain of async</summary>\n\n```text\nSort (cost=145.88" in section
    assert re.search(r"\| GET +\| /todos/ +\| async +\| +3.919 \|", text), "the work that it did"


def test_the_summary_of_a_chain_keeps_the_step_before_and_the_baseline_apart():
    analysis = chain()
    first = next(
        each
        for each in analysis.comparisons
        if each.endpoint[0] == "GET" and each.metric.text == "p99" and (each.a, each.b) == ("async", "limit")
    )
    given = tuple(
        replace(first, a=a, against=against, ratio=ratio, low=None, high=None)
        for a, against, ratio in (("async", "previous", 0.5), ("baseline", "baseline", 0.25))
    )
    text = of_study(Analysis(analysis.study, (), given))
    row = next(line for line in text.splitlines() if line.startswith("| limit "))
    assert row.replace("  ", "").rstrip("| ").replace("| ", "|").endswith("|−50 %|−75 %")


def test_an_operation_has_the_two_tables_of_locust_per_level():
    text = of_study(SAMPLES["operations"]())
    section = text[text.index("### upload") : text.index("### read")]
    assert section.count("| Method | Name ") == 6
    assert "| Fails/s |" in section
    assert re.search(r"\| +99% \| +100% \|", section)
    delete = text[text.index("### delete") :]
    assert re.search(r"\| HTTP 400 \| 10 users +\| POST +\| /keys/\\\[id\\\]/\S+ \| 400 ", delete)


def test_rates_with_a_cell_that_did_not_get_its_load():
    text = of_study(rates())
    row = next(line for line in text.splitlines() if re.match(r"\| koding +\| 900/s\\\*", line))
    assert re.search(r"\| +[\d.]+ \|", row), "its numbers are shown"
    assert "**2 of 12 runs did not get the load that was asked for**" in text
    assert "- 63 % of the offered arrivals were begun, at least 99 % are required (2 runs)." in text


def numbers(value) -> set[float]:
    if isinstance(value, dict):
        return set().union(*map(numbers, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(numbers, value)) if value else set()
    return {float(value)} if isinstance(value, int | float) and not isinstance(value, bool) else set()


def is_known(shown: str, percent: bool, known: set[float]) -> bool:
    """Whether some number of the JSON is shown as this one when it is rounded."""
    decimals = len(shown.partition(".")[2])
    for value in known:
        for each in (100 * value, 100 * abs(value - 1)) if percent else (value,):
            if abs(each - float(shown)) <= 0.5 * 10**-decimals * (1 + 1e-9):
                return True
    return False


@pytest.mark.parametrize("name", SAMPLES)
def test_every_number_of_the_tables_is_in_the_json(name):
    analysis = SAMPLES[name]()
    known = numbers(document(analysis))
    # Shares are told as requests and failures.
    known |= {row["failures"] / row["requests"] for row in rows(document(analysis)) if row["failures"] is not None}
    known |= {1 - row["failures"] / row["requests"] for row in rows(document(analysis)) if row["failures"] is not None}
    shown = []
    for line in of_study(analysis).translate({0xA0: None, 0x202F: None}).splitlines():
        if re.match(r"\| (?!What |Method |machine|kernel|plimsoll)", line) and not re.match(r"\| [-: |]+\|$", line):
            for cell in map(str.strip, re.split(r"(?<!\\)\|", line)[1:-1]):
                if cell not in analysis.study.variants and re.fullmatch(r"[\s\d.,×\[\]+−≥%\u00a0]*[\d%\]]", cell):
                    shown += [(found, cell.endswith("%")) for found in re.findall(r"\d+(?:\.\d+)?", cell)]
    assert len(shown) > 10
    assert [number for number in shown if not is_known(*number, known)] == []


def rows(found) -> list[dict]:
    return [
        row for cell in found["cells"] for row in (*cell["endpoints"], *([cell["total"]] if cell["total"] else []))
        if row["requests"]
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["ladder", "chain", "rates"])
def test_every_number_of_the_verdicts_is_in_the_json(name):
    analysis = SAMPLES[name]()
    found = document(analysis)
    known = numbers({key: found[key] for key in ("study", "comparisons", "trials")})
    text = of_study(analysis)
    block = re.findall(r"```text\n(p.*?)\n```\n", text, re.DOTALL)[0].translate({0xA0: None, 0x202F: None})
    shown = []
    # What is invalid has no numbers but those of its reason.
    for line in (line for line in block.splitlines()[1:] if "INVALID" not in line):
        for endpoint in analysis.study.endpoints():
            line = line.replace(" ".join(endpoint), "")
        shown += re.findall(r"(?<!80 )(?<![\w.])\d*\.?\d+(?! % power)", line.replace("95 %", ""))
    assert len(shown) > 15
    assert [each for each in shown if not (is_known(each, False, known) or is_known(each, True, known))] == []


def test_what_is_no_number_is_shown_nowhere():
    analysis = ladder()
    nan = float("nan")
    comparisons = tuple(replace(each, a_value=nan, b_value=float("inf"), ratio=nan) for each in analysis.comparisons)
    trials = tuple(
        replace(each, endpoints=tuple(replace(row, max=nan, mean=nan, rate=nan, size=nan) for row in each.endpoints))
        for each in analysis.study.trials
    )
    text = of_study(Analysis(replace(analysis.study, trials=trials), (), comparisons))
    operations = of_study(Analysis(replace(analysis.study, trials=trials, shape="operations"), (), comparisons))
    assert not re.search(r"\b(nan|inf)\b", text + operations)
