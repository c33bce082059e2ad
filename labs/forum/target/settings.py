"""Settings of both services. The environment sets what differs between variants."""

import os
from urllib.parse import urlsplit

_database = urlsplit(os.environ.get("FORUM_DATABASE", "postgresql://lab@127.0.0.1:5432/postgres"))

SECRET_KEY = "of a lab, and of no use elsewhere"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
USE_TZ = True
TIME_ZONE = "UTC"
INSTALLED_APPS = ["target.forum"]
MIDDLEWARE: list[str] = []
ROOT_URLCONF = "target.urls"
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
APPEND_SLASH = False
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": _database.hostname,
        "PORT": _database.port,
        "USER": _database.username,
        "NAME": _database.path.lstrip("/"),
        # One kept connection per thread.
        "CONN_MAX_AGE": None,
    }
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "UNAUTHENTICATED_USER": None,
}
ACCOUNTS = os.environ.get("FORUM_ACCOUNTS", "")
"""The URL of the accounts API; "" means no profile images."""
ACCOUNTS_ONE_BY_ONE = os.environ.get("FORUM_ACCOUNTS_ONE_BY_ONE") == "1"
"""One request per user name, instead of one for all names of a reply."""
ACCOUNTS_TIMEOUT_S = 20.0
