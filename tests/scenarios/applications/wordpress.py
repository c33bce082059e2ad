"""WordPress: comments in its administration, with the nonces of PHP in forms and links."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from tests.scenarios.application import Application, Server, run

if TYPE_CHECKING:
    from playwright.sync_api import Page

WORDPRESS, MARIADB, PHP = Path("/usr/share/wordpress"), Path("/usr/sbin/mariadbd"), Path("/usr/bin/php")
SETTINGS = """<?php
define('DB_NAME', 'site'); define('DB_USER', 'root'); define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:{socket}'); define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
define('WP_SITEURL', '{url}'); define('WP_HOME', '{url}'); define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true); define('AUTOSAVE_INTERVAL', 3600);
define('AUTH_KEY', '{salt}'); define('SECURE_AUTH_KEY', '{salt}'); define('LOGGED_IN_KEY', '{salt}');
define('NONCE_KEY', '{salt}'); define('AUTH_SALT', '{salt}'); define('SECURE_AUTH_SALT', '{salt}');
define('LOGGED_IN_SALT', '{salt}'); define('NONCE_SALT', '{salt}');
$table_prefix = 'wp_';
if (!defined('ABSPATH')) {{ define('ABSPATH', __DIR__ . '/'); }}
require_once ABSPATH . 'wp-settings.php';
"""
INSTALL = """<?php
define('WP_INSTALLING', true);
require '{site}/wp-load.php'; require '{site}/wp-admin/includes/upgrade.php';
wp_install('Shop', 'ann', 'ann@shop.test', false, '', '{password}');
"""
PASSWORD = "tr0ub4dor-and-3"
SCRIPT = """
mariadbd --no-defaults --user=root --datadir={folder}/mysql --socket={socket} --skip-networking \\
    --skip-grant-tables &
until mariadb --no-defaults --socket={socket} -e 'CREATE DATABASE IF NOT EXISTS site'; do sleep 0.5; done 2>/dev/null
php {folder}/install.php
exec php -S 127.0.0.1:{port} -t {site}
"""


def prepare(folder: Path, port: int) -> Server:
    site, socket = folder / "site", folder / "mysql.sock"
    shutil.copytree(WORDPRESS, site, ignore=shutil.ignore_patterns("wp-config.php"), ignore_dangling_symlinks=True)
    settings = SETTINGS.format(socket=socket, url=f"http://127.0.0.1:{port}", salt="0123456789abcdef" * 4)
    (site / "wp-config.php").write_text(settings)
    (folder / "install.php").write_text(INSTALL.format(site=site, password=PASSWORD))
    run("mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={folder / 'mysql'}", folder=folder)
    script = SCRIPT.format(folder=folder, socket=socket, port=port, site=site)
    return Server(("sh", "-c", script), folder)


def visit(page: Page, url: str, number: int) -> None:
    # WordPress refuses a comment that it has already.
    answer = str(uuid4())
    page.goto(f"{url}/wp-login.php")
    page.fill("#user_login", "ann")
    page.fill("#user_pass", PASSWORD)
    page.click("#wp-submit")
    page.wait_for_url("**/wp-admin/")
    page.goto(f"{url}/wp-admin/edit-comments.php")
    page.hover("#comment-1")
    page.click("#comment-1 .reply button")
    page.fill("#replycontent", answer)
    page.click("#replysubmit .save")
    page.wait_for_selector(f"#the-comment-list tr:has-text('{answer}')")
    page.goto(page.locator(f"tr:has-text('{answer}') .edit a").first.evaluate("link => link.href"))
    page.fill("#content", f"We deliver after day {number}")
    page.click("#save")
    page.wait_for_url("**/edit-comments.php**")


APPLICATION = Application(
    name="WordPress", shows="nonces of PHP in forms and links", needs=(WORDPRESS, MARIADB, PHP), prepare=prepare,
    visit=visit,
    from_replies=(
        "ajax_nonce_replyto_comment", "wp_unfiltered_html_comment", "delete_comments", "wpnonce",
        "closedpostboxesnonce", "ss", "wp_http_referer",
    ),
    from_person=("content",),
    from_clock=("mn", "hh", "jj", "mm", "aa"), ready="/wp-login.php",
)  # fmt: skip
