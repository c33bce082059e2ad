"""django-oscar: an order of a guest over the forms of a checkout, with the CSRF tokens of Django."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tests.scenarios.application import PYTHON, Application, Server, run

if TYPE_CHECKING:
    from playwright.sync_api import Page

SHOP = Path(__file__).parents[1] / "files" / "oscar.py"
URLS = """
from django.apps import apps
from django.urls import include, path
urlpatterns = [
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include(apps.get_app_config("oscar").urls[0])),
]
"""


def prepare(folder: Path, port: int) -> Server:
    shutil.copy(SHOP, folder / "oscar_shop.py")
    (folder / "oscar_urls.py").write_text(URLS)
    run(PYTHON / "python", "oscar_shop.py", folder=folder)
    command = (str(PYTHON / "python"), "-m", "django", "runserver", "--noreload", f"127.0.0.1:{port}")
    return Server(command, folder, {"DJANGO_SETTINGS_MODULE": "oscar_shop", "PYTHONPATH": str(folder)})


def visit(page: Page, url: str, number: int) -> None:
    page.goto(f"{url}/catalogue/milk_1/")
    page.click("button:has-text('Add to')")
    page.wait_for_selector("text=has been added")
    page.goto(f"{url}/basket/")
    page.click("a:has-text('Proceed to checkout')")
    page.fill("#id_username", f"guest{number}@shop.test")
    page.check("input[value=anonymous]")
    page.click("button:has-text('Continue')")
    page.fill("#id_first_name", "Ann")
    page.fill("#id_last_name", f"Smith {number}")
    page.fill("#id_line1", f"Station Road {number}")
    page.fill("#id_line4", "Utrecht")
    page.fill("#id_postcode", "3511 ED")
    page.click("button:has-text('Continue')")
    page.click("a:has-text('Continue')")
    page.click("#place-order")
    page.wait_for_url("**/thank-you/")


APPLICATION = Application(
    name="django-oscar", shows="CSRF tokens of Django over four forms", needs=(PYTHON / "django-admin",),
    prepare=prepare, visit=visit,
    from_replies=(
        "csrfmiddlewaretoken", "csrfmiddlewaretoken_2", "csrfmiddlewaretoken_3", "csrfmiddlewaretoken_4",
    ),
    from_person=("username", "last_name", "line1"), ready="/catalogue/",
)  # fmt: skip
