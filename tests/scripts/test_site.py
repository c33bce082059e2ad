"""The documentation's site: complete, up to date, without dead links."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest
from scripts import fields
from scripts.site import CONFIG, DOCS, PYTHON, ROOT, built, llms, pages, python_reference


def _pages() -> list[str]:
    return [path for _, path in pages(tomllib.loads(CONFIG.read_text())["project"]["nav"])]


def test_the_python_reference_is_up_to_date() -> None:
    assert PYTHON.read_text() == python_reference(), "write it with: python -m scripts.site"


@pytest.mark.parametrize("name", fields.PAGES)
def test_the_references_of_fields_are_up_to_date(name: str) -> None:
    assert (fields.FOLDER / f"{name}.md").read_text() == fields.page(name), "write it with: python -m scripts.fields"


def test_every_page_is_in_the_navigation() -> None:
    found = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert {path for path in found if not path.startswith("decisions/0")} == set(_pages())


def test_every_relative_link_stays_within_the_site_and_leads_somewhere() -> None:
    dead = []
    for page in DOCS.rglob("*.md"):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"(?:\]\(|src=\"|srcset=\")(?!https://)([^)#:\s\"]+)", text):
            place = (page.parent / target).resolve()
            if not (place.exists() and place.is_relative_to(DOCS)):
                dead.append(f"{page.relative_to(DOCS)} → {target}")
    assert dead == []


def test_every_anchor_is_a_heading() -> None:
    dead = []
    for page in DOCS.rglob("*.md"):
        for target, anchor in re.findall(r"\]\(([^)#:\s]*\.md)?#([^)]+)\)", page.read_text()):
            place = (page.parent / target) if target else page
            if anchor not in _anchors(place.read_text()):
                dead.append(f"{page.relative_to(DOCS)} → {target}#{anchor}")
    assert dead == []


def _anchors(text: str) -> set[str]:
    """As the site and GitHub make them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", each.lower()).strip()) for each in headings}


def test_llms_txt_has_every_page() -> None:
    assert re.findall(r"\]\((.*)\)", llms()) == [built(path) for path in _pages()]


@pytest.mark.long
def test_the_site_is_built() -> None:
    done = subprocess.run([sys.executable, "-m", "scripts.site"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    site = ROOT / "target" / "docs"
    for path in _pages():
        assert (site / built(path)).exists(), path
    assert (site / "llms.txt").read_text() == llms()
    index = (site / "index.html").read_text()
    assert "fonts.googleapis.com" not in index, "the site asks nobody else for anything"
