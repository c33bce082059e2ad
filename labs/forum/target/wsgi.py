"""The WSGI application for gunicorn."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "target.settings")

if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
    from .tracing import trace

    trace()

application = get_wsgi_application()
