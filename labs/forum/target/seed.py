"""Make the tables and fill them: `python -m target.seed MIGRATION`, with the environment of the service.

MIGRATION: the last one that is applied, "0001" or "0002". The rows are the same each time.
"""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "target.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

THREADS = 4_000
COMMENTS = 40_000
USERS = 2_000
COURSES = 40

# random() is seeded by setseed: every cluster has the same rows.
ROWS = f"""
SELECT setseed(0.5);
INSERT INTO forum_account (name, image, bio)
  SELECT 'user' || n, '/images/' || n || '.png', repeat('about me ', 10) FROM generate_series(1, {USERS}) n;
INSERT INTO forum_thread (course, author_id, title, body, created)
  SELECT 1 + mod(n, {COURSES}), 1 + floor(random() * {USERS})::int, 'Thread ' || n, repeat('lorem ipsum ', 20),
         now() - n * interval '1 minute'
  FROM generate_series(1, {THREADS}) n;
INSERT INTO forum_comment (thread_id, parent_id, author_id, body, created)
  SELECT 1 + floor(random() * {THREADS})::int, CASE WHEN mod(n, 3) = 0 THEN n - 1 END,
         1 + floor(random() * {USERS})::int, repeat('dolor sit ', 12), now() - n * interval '1 second'
  FROM generate_series(1, {COMMENTS}) n;
ANALYZE;
"""


def main() -> None:
    call_command("migrate", "forum", sys.argv[1], verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(ROWS)


if __name__ == "__main__":
    main()
