"""The forum service and the accounts service: Django and Django REST framework over PostgreSQL, under gunicorn."""
