"""Fill the tables: `python -m target.seed`, with the environment of the service. The rows are the same each time."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "target.settings")
django.setup()

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
    with connection.cursor() as cursor:
        cursor.execute(ROWS)


if __name__ == "__main__":
    main()
