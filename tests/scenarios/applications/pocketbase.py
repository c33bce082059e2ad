"""PocketBase: records of a collection, with a JWT that its page takes from a reply in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.scenarios.application import GO_PROGRAMS, Application, Server, run

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

PROGRAM = GO_PROGRAMS / "base"
EMAIL, PASSWORD = "ann@notes.test", "tr0ub4dor-and-3"
COLLECTION = """
migrate((app) => {
  app.save(new Collection({type: "base", name: "notes", fields: [{name: "title", type: "text"}]}));
});
"""


def prepare(folder: Path, port: int) -> Server:
    migrations = folder / "migrations"
    migrations.mkdir()
    (migrations / "1_notes.js").write_text(COLLECTION)
    options = (f"--dir={folder / 'data'}", f"--migrationsDir={migrations}")
    run(PROGRAM, "superuser", "upsert", EMAIL, PASSWORD, *options, folder=folder)
    return Server((str(PROGRAM), "serve", f"--http=127.0.0.1:{port}", *options), folder)


def visit(page: Page, url: str, number: int) -> None:
    page.goto(f"{url}/_/#/login")
    page.fill("[type=email]", EMAIL)
    page.fill("[type=password]", PASSWORD)
    page.click("[type=submit]")
    page.click("text=notes")
    page.click("text=New record")
    page.fill(".overlay-panel textarea", f"Buy milk {number}")
    page.click(".overlay-panel button:has-text('Create')")
    page.click(f"tr:has-text('Buy milk {number}')")
    page.fill(".overlay-panel textarea", f"Buy tea {number}")
    page.click(".overlay-panel button:has-text('Save changes')")
    page.click(f"tr:has-text('Buy tea {number}')")
    page.click("[aria-label='More record options']")
    page.click("text=Delete")
    page.click("button:has-text('Yes')")
    page.wait_for_selector(f"tr:has-text('Buy tea {number}')", state="detached")


APPLICATION = Application(
    name="PocketBase", shows="a JWT in JSON, ids in paths", needs=(PROGRAM,), prepare=prepare, visit=visit,
    from_replies=("token", "record_id"), from_person=("title", "title_2"), ready="/api/health",
)  # fmt: skip
