"""How the blocks of a report become Markdown, and that every number of it is in the JSON."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from plimsoll.report.analysis.build import build
from plimsoll.report.analysis.document import Bullet, Bullets, Document, Heading, Paragraph, Pictures, Table, Verbatim
from tests.report.studies import SAMPLES, chain, ladder, rates

from plimsoll.report.render.analysis_json import document
from plimsoll.report.render.markdown import escape, markdown
from plimsoll.report.render.text_table import Column
from plimsoll.report.text import cells
from plimsoll.stats.analysis import Analysis


def drawn(*blocks) -> str:
    return markdown(Document(blocks))


def test_blocks():
    table = Table((Column("Name"), Column("n", right=True)), (("a|b", "1"), ("`c`", "22")))
    bullets = Bullets((Bullet("text", "strong:", ("below",)),), (Bullet("rare"),))
    assert drawn(Heading("A", 1), Paragraph("p"), bullets, table, Pictures((("Verdicts", "verdicts.svg"),))) == (
        "# A\n\n"
        "p\n\n"
        "- **strong:** text\n"
        "  - below\n\n"
        "<details><summary>1 more of the same rules</summary>\n\n"
        "- rare\n\n"
        "</details>\n\n"
        "| Name  |   n |\n"
        "| ----- | --: |\n"
        "| a\\|b  |   1 |\n"
        "| \\`c\\` |  22 |\n\n"
        "![Verdicts](verdicts.svg)\n"
    )


def test_as_a_part_of_another_document_it_has_no_title_and_its_headings_are_deeper():
    document = Document((Heading("A", 1), Heading("B", 2), Heading("C", 3)))
    assert markdown(document, under=2) == "### B\n\n#### C\n"
    assert markdown(document, under=1) == "## B\n\n### C\n"
    assert markdown(document, under=6) == "###### B\n\n###### C\n"


def test_verbatim_lines_cannot_end_their_fence():
    assert drawn(Verbatim(("a", "```", "</details>"))) == "````text\na\n```\n</details>\n````\n"
    assert drawn(Verbatim(("x",), "plan of <b>")) == (
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
    lines = markdown(build(SAMPLES[name]())).splitlines()
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
    text = markdown(build(rates()))
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert "<script>" not in outside
    assert "&lt;script&gt;" in outside


def test_the_findings_come_before_every_table():
    text = markdown(build(chain()))
    order = [text.index(title) for title in ("## Short answer", "## Findings", "## Warnings", "## Verdicts", "\n| ")]
    assert order == sorted(order)


def test_a_ladder_has_a_table_per_level():
    text = markdown(build(ladder()))
    section = text[text.index("## At 162 users") : text.index("## At 336 users")]
    assert [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")][2::3] == [
        "GET /threads/{id}", "POST /comments/", "Aggregated",
    ]  # fmt: skip
    assert "| Endpoint " in section
    row = r"\| GET /threads/\{id\} \| p99, ms +\| +456 \| +523 \| +\+15 % \| +×1\.15 \[1\.11, 1\.18\] \| NOT"
    assert re.search(row, section)


def test_a_chain_is_a_journal():
    text = markdown(build(chain()))
    async_ = text[text.index("## 2. async") : text.index("## 3. limit")]
    assert "Changed: async handlers" in async_
    assert "### Against index, the step before" in async_
    assert re.search(r"\| 50 users \| GET /todos/ +\| +\d+ \| +0\.00% \| +\d+ \| +93618 \|", async_)
    assert "<details><summary>explain of async</summary>\n\n```text\nSort (cost=145.88" in async_
    assert "### Against baseline" in text[text.index("## 3. limit") :]


def test_the_summary_of_a_chain_tells_the_step_before_and_the_baseline_apart():
    analysis = chain()
    first = next(
        each for each in analysis.comparisons if each.metric.text == "p99" and (each.a, each.b) == ("async", "limit")
    )
    given = tuple(
        replace(first, a=a, against=against, ratio=ratio, low=None, high=None)
        for a, against, ratio in (("async", "previous", 0.5), ("baseline", "baseline", 0.25))
    )
    text = markdown(build(Analysis(analysis.study, (), given)))
    row = next(line for line in text.splitlines() if re.match(r"\| limit .*ONE RUN", line))
    assert re.sub(r" +", " ", row) == "| limit | 221 | ×0.50 | ONE RUN EACH | ×0.25 | ONE RUN EACH | 27601 |"


def test_a_valid_run_without_a_partner_still_has_its_value():
    analysis = ladder()
    trials = tuple(
        replace(each, invalid=("lag", "cpu") if each.variant == "new" else ()) for each in analysis.study.trials
    )
    comparisons = tuple(replace(each, word="invalid", a_value=None, b_value=None) for each in analysis.comparisons)
    text = markdown(build(Analysis(replace(analysis.study, trials=trials), (), comparisons)))
    assert re.search(r"\| GET /threads/\{id\} \| p99, ms +\| +347 \| +—\S+ \| +— \|", text)
    assert "new at 48 users is INVALID: lag; and 1 more reason, which the JSON has" in text


@pytest.mark.parametrize("word", ["invalid", "no verdict"])
def test_what_cannot_be_told_has_no_ratio(word):
    analysis = ladder()
    comparisons = tuple(replace(each, word=word, reason="why") for each in analysis.comparisons)
    text = markdown(build(Analysis(replace(analysis.study, about={}), (), comparisons)))
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert not any("×" in line or re.search(r"[+−]\d", line) for line in tables)
    assert any(re.search(r"\| +— \| +— \| (INVALID|NO VERDICT)¹", line) for line in tables)


def test_an_operation_has_the_two_tables_of_locust_per_level():
    text = markdown(build(SAMPLES["operations"]()))
    section = text[text.index("## upload") : text.index("## read")]
    assert section.count("| Method | Name ") == 6
    assert "| Failures/s |" in section
    assert "| 100%ile (ms) |" in section
    delete = text[text.index("## delete") :]
    assert re.search(r"\| 10 users \| 2\.11 +\| POST /keys/\\\[id\\\]/\S+ \| http \| 400 ", delete)


def test_rates_with_an_invalid_cell():
    text = markdown(build(rates()))
    row = next(line for line in text.splitlines() if re.match(r"\| koding +\| 900/s ", line))
    assert re.sub(r" +", " ", row) == "| koding | 900/s | —¹ | —¹ | —¹ | —¹ | 0 of 2 |"
    assert "- ¹ koding at 900/s is INVALID: 63 % of the offered arrivals were begun, at least 99 % are required" in text


def test_numbers_of_invalid_runs_stand_nowhere():
    study = rates().study
    trials = tuple(
        replace(each, invalid=("broken",), total=replace(each.total, max=98_765.4), endpoints=())
        for each in study.trials
    )
    comparisons = tuple(replace(each, word="invalid", a_value=98_765.4) for each in rates().comparisons)
    text = markdown(build(Analysis(replace(study, trials=trials), (), comparisons)))
    tables = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    assert "98765" not in tables
    assert "—¹" in tables


def numbers(value) -> set[float]:
    if isinstance(value, dict):
        return set().union(*map(numbers, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(numbers, value)) if value else set()
    return {float(value)} if isinstance(value, int | float) and not isinstance(value, bool) else set()


def is_told(shown: str, percent: bool, known: set[float]) -> bool:
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
    for line in markdown(build(analysis)).splitlines():
        if re.match(r"\| (?!What |machine|kernel|plimsoll)", line) and not re.match(r"\| [-: |]+\|$", line):
            for cell in map(str.strip, re.split(r"(?<!\\)\|", line)[1:-1]):
                if cell not in analysis.study.variants and re.fullmatch(r"[\s\d.,×\[\]+−≥%\u00a0]*[\d%\]]", cell):
                    shown += [(found, cell.endswith("%")) for found in re.findall(r"\d+(?:\.\d+)?", cell)]
    assert len(shown) > 10
    assert [number for number in shown if not is_told(*number, known)] == []


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
    text = markdown(build(analysis))
    block = text[text.index("```text") : text.index("\n```\n")].replace("\u00a0", "")
    shown = []
    # What is invalid has no numbers but those of its reason.
    for line in (line for line in block.splitlines()[1:] if "INVALID" not in line):
        for endpoint in analysis.study.endpoints():
            line = line.replace(" ".join(endpoint), "")
        shown += re.findall(r"(?<!80 )(?<![\w.])\d*\.?\d+(?! % power)", line.replace("95 %", ""))
    assert len(shown) > 20
    assert [each for each in shown if not (is_told(each, False, known) or is_told(each, True, known))] == []


def test_what_is_no_number_is_shown_nowhere():
    analysis = ladder()
    nan = float("nan")
    comparisons = tuple(replace(each, a_value=nan, b_value=float("inf"), ratio=nan) for each in analysis.comparisons)
    trials = tuple(
        replace(each, endpoints=tuple(replace(row, max=nan, mean=nan, rate=nan, size=nan) for row in each.endpoints))
        for each in analysis.study.trials
    )
    text = markdown(build(Analysis(replace(analysis.study, trials=trials), (), comparisons)))
    operations = markdown(build(Analysis(replace(analysis.study, trials=trials, shape="operations"), (), comparisons)))
    assert not re.search(r"\b(nan|inf)\b", text + operations)
