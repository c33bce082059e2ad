"""The tables, what is in them at the beginning, and the four indexes that the new build has."""

from sqlalchemy import Connection, text

THREADS = 4_000
COMMENTS = 40_000
USERS = 2_000

TABLES = """
CREATE TABLE account (id int PRIMARY KEY, name text NOT NULL, image text NOT NULL);
CREATE TABLE thread (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, course int NOT NULL, author int NOT NULL, title text NOT NULL,
  body text NOT NULL, created timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE comment (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, thread int NOT NULL, parent int, author int NOT NULL,
  body text NOT NULL, created timestamptz NOT NULL DEFAULT clock_timestamp()
);
"""
# random() is seeded by setseed: every cluster has the same rows.
ROWS = f"""
SELECT setseed(0.5);
INSERT INTO account SELECT n, 'user ' || n, '/images/' || n || '.png' FROM generate_series(1, {USERS}) n;
INSERT INTO thread (course, author, title, body, created)
  SELECT 1 + mod(n, 40), 1 + floor(random() * {USERS})::int, 'Thread ' || n, repeat('lorem ipsum ', 20),
         now() - n * interval '1 minute'
  FROM generate_series(1, {THREADS}) n;
INSERT INTO comment (thread, parent, author, body, created)
  SELECT 1 + floor(random() * {THREADS})::int, CASE WHEN mod(n, 3) = 0 THEN n - 1 END,
         1 + floor(random() * {USERS})::int, repeat('dolor sit ', 12), now() - n * interval '1 second'
  FROM generate_series(1, {COMMENTS}) n;
"""
INDEXES = """
CREATE INDEX thread_course ON thread (course, created DESC);
CREATE INDEX comment_thread ON comment (thread, created);
CREATE INDEX comment_parent ON comment (parent);
CREATE INDEX comment_author ON comment (author);
"""


def create(connection: Connection, *, indexes: bool) -> None:
    """The tables with their rows; nothing if they are there."""
    if connection.scalar(text("SELECT to_regclass('thread')")) is not None:
        return
    # Several statements at once: the driver itself takes them, as long as there are no parameters.
    cursor = connection.connection.cursor()
    for statements in (TABLES, ROWS, *((INDEXES,) if indexes else ()), "ANALYZE"):
        cursor.execute(statements)
    cursor.close()
    connection.commit()
