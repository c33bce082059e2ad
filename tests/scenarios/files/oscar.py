"""A shop of django-oscar, in the folder of this file: its settings, its URLs, and as a command its data."""

from __future__ import annotations

import os
from pathlib import Path

import django
import oscar.defaults

FOLDER = Path(__file__).parent
globals().update({name: value for name, value in vars(oscar.defaults).items() if name.startswith("OSCAR_")})
SECRET_KEY = "0123456789abcdef" * 4
DEBUG = True
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "oscar_urls"
SITE_ID = 1
LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", "English")]
USE_TZ = True
STATIC_URL = "/static/"
MEDIA_ROOT = FOLDER / "media"
MEDIA_URL = "/media/"
OSCAR_ALLOW_ANON_CHECKOUT = True
OSCAR_DEFAULT_CURRENCY = "EUR"
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}}
AUTHENTICATION_BACKENDS = ("oscar.apps.customer.auth_backends.EmailBackend",)
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": FOLDER / "shop.sqlite",
        "ATOMIC_REQUESTS": True,
        "OPTIONS": {"timeout": 60, "transaction_mode": "IMMEDIATE"},
    }
}
INSTALLED_APPS = [
    *(f"django.contrib.{name}" for name in ("auth", "contenttypes", "sessions", "sites", "messages", "staticfiles")),
    "django.contrib.flatpages",
    "oscar.config.Shop",
    *(f"oscar.apps.{name}Config" for name in (
        "analytics.apps.Analytics", "checkout.apps.Checkout", "address.apps.Address", "shipping.apps.Shipping",
        "catalogue.apps.Catalogue", "catalogue.reviews.apps.CatalogueReviews", "communication.apps.Communication",
        "partner.apps.Partner", "basket.apps.Basket", "payment.apps.Payment", "offer.apps.Offer", "order.apps.Order",
        "customer.apps.Customer", "search.apps.Search", "voucher.apps.Voucher", "wishlists.apps.Wishlists",
        "dashboard.apps.Dashboard", "dashboard.reports.apps.ReportsDashboard", "dashboard.users.apps.UsersDashboard",
        "dashboard.orders.apps.OrdersDashboard", "dashboard.catalogue.apps.CatalogueDashboard",
        "dashboard.offers.apps.OffersDashboard", "dashboard.partners.apps.PartnersDashboard",
        "dashboard.pages.apps.PagesDashboard", "dashboard.ranges.apps.RangesDashboard",
        "dashboard.reviews.apps.ReviewsDashboard", "dashboard.vouchers.apps.VouchersDashboard",
        "dashboard.communications.apps.CommunicationsDashboard", "dashboard.shipping.apps.ShippingDashboard",
    )),
    "widget_tweaks", "haystack", "treebeard", "sorl.thumbnail", "django_tables2",
]  # fmt: skip
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.i18n", "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form", "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ]
        },
    }
]  # fmt: skip


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "oscar_shop"
    django.setup()
    from django.core.management import call_command
    from oscar.apps.catalogue.categories import create_from_breadcrumbs
    from oscar.core.loading import get_model

    call_command("migrate", verbosity=0)
    get_model("address", "Country").objects.create(
        iso_3166_1_a2="NL", iso_3166_1_a3="NLD", iso_3166_1_numeric="528", printable_name="Netherlands",
        name="Netherlands", display_order=1, is_shipping_country=True,
    )  # fmt: skip
    kind = get_model("catalogue", "ProductClass").objects.create(name="Food", track_stock=False)
    milk = get_model("catalogue", "Product").objects.create(title="Milk", slug="milk", product_class=kind)
    milk.categories.add(create_from_breadcrumbs("Food"))
    partner = get_model("partner", "Partner").objects.create(name="Farm")
    get_model("partner", "StockRecord").objects.create(
        product=milk, partner=partner, partner_sku="milk", price_currency="EUR", price="1.20"
    )


if __name__ == "__main__":
    main()
