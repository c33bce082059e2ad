"""Redmine: issues of a project, with the authenticity tokens of Rails."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tests.scenarios.application import Application, Server, run

if TYPE_CHECKING:
    from playwright.sync_api import Page

REDMINE, PUMA = Path("/usr/share/redmine"), Path("/usr/bin/puma")
ENVIRONMENT = {"RAILS_ENV": "production", "REDMINE_INSTANCE": "lab", "REDMINE_LANG": "en", "RAILS_LOG_TO_STDOUT": "1"}
DATABASE = """production:
  adapter: sqlite3
  database: {}
  timeout: 30000
"""
PASSWORD = "tr0ub4dor&3"
ACCOUNTS = f"""
user = User.find_by_login("admin")
user.update!(password: "{PASSWORD}", must_change_passwd: false)
project = Project.new(name: "Shop", identifier: "shop", is_public: true)
project.trackers = Tracker.all
project.enabled_module_names = ["issue_tracking"]
project.save!
"""


def prepare(folder: Path, port: int) -> Server:
    home = folder / "redmine"
    shutil.copytree(REDMINE, home, ignore=shutil.ignore_patterns("instances"), dirs_exist_ok=True)
    instance = home / "instances" / "lab"
    for name in ("config", "tmp/cache", "log", "files"):
        (instance / name).mkdir(parents=True)
    (instance / "config" / "database.yml").write_text(DATABASE.format(folder / "redmine.sqlite"))
    (instance / "config" / "secret_key.txt").write_text("0123456789abcdef" * 8)
    run("rake", "db:migrate", folder=home, environment=ENVIRONMENT)
    run("rake", "redmine:load_default_data", folder=home, environment=ENVIRONMENT)
    run("rails", "runner", ACCOUNTS, folder=home, environment=ENVIRONMENT)
    # SQLite refuses one of two requests that begin to write at once.
    command = (str(PUMA), "--bind", f"tcp://127.0.0.1:{port}", "--environment", "production", "--threads", "1:1")
    return Server(command, home, ENVIRONMENT)


def visit(page: Page, url: str, number: int) -> None:
    page.goto(f"{url}/login")
    page.fill("#username", "admin")
    page.fill("#password", PASSWORD)
    page.click("#login-submit")
    page.goto(f"{url}/projects/shop/issues/new")
    page.fill("#issue_subject", f"The basket forgets item {number}")
    page.click("[name=commit]")
    page.wait_for_url("**/issues/*")
    page.goto(f"{page.url}/edit")
    page.fill("#issue_notes", f"Seen again {number} times")
    page.click("[name=commit]")
    page.on("dialog", lambda dialog: dialog.accept())
    page.wait_for_selector("#flash_notice:has-text('update')")
    page.wait_for_load_state()
    page.locator("#content .icon-actions").first.click()
    page.locator("#content a.icon-del:visible").first.click()
    page.wait_for_url("**/issues")


APPLICATION = Application(
    name="Redmine", shows="authenticity tokens of Rails", needs=(REDMINE, PUMA), prepare=prepare, visit=visit,
    from_replies=("csrf_token", "csrf_token_2", "issues", "csrf_token_3", "csrf_token_4"),
    from_person=("issue_subject", "issue_notes"), ready="/login",
)  # fmt: skip
