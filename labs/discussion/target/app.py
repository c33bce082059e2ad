"""The routes: handlers in a pool of threads, a transaction each, as a Django service would have them.

A handler takes its connection itself. As a dependency it would be held while the handler waits for a thread, and
threads would wait for connections: with more users than threads they can wait for one another for good.
"""

from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException
from pydantic import BaseModel
from sqlalchemy import Connection, Engine, text

PAGE = 20

LIST_THREADS = """
SELECT t.id, t.title, t.created, a.name AS author, a.image,
       (SELECT count(*) FROM comment c WHERE c.thread = t.id) AS comments
FROM thread t JOIN account a ON a.id = t.author
WHERE t.course = :course ORDER BY t.created DESC LIMIT :page
"""
THREAD = """
SELECT t.id, t.title, t.body, t.created, a.name AS author, a.image, count(c.id) AS comments
FROM thread t JOIN account a ON a.id = t.author LEFT JOIN comment c ON c.thread = t.id
WHERE t.id = :id GROUP BY t.id, a.id
"""
COMMENTS = """
SELECT c.id, c.parent, c.body, c.created, a.name AS author, a.image
FROM comment c JOIN account a ON a.id = c.author WHERE c.thread = :thread ORDER BY c.created LIMIT :page
"""


ADD_COMMENT = """
INSERT INTO comment (thread, parent, author, body) VALUES (:thread, :parent, :author, :body) RETURNING id
"""


class Text(BaseModel):
    """What a client writes."""

    author: int = 1
    body: str


def create_app(engine: Engine) -> FastAPI:
    """The service over a blocking engine."""
    app = FastAPI(title="discussion")
    app.include_router(_router(engine))
    return app


def _router(engine: Engine) -> APIRouter:
    routes = APIRouter()

    def rows(database: Connection, query: str, **values: Any) -> list[dict[str, Any]]:
        return [dict(row) for row in database.execute(text(query), values).mappings()]

    def one(database: Connection, query: str, **values: Any) -> dict[str, Any]:
        found = rows(database, query, **values)
        if not found:
            raise HTTPException(404, "there is no such thing")
        return found[0]

    @routes.post("/auto_auth")
    def sign_in(user: int) -> object:
        with engine.begin() as database:
            return one(database, "SELECT id, name FROM account WHERE id = :user", user=user)

    @routes.get("/threads")
    def list_threads(course: int) -> object:
        with engine.begin() as database:
            return rows(database, LIST_THREADS, course=course, page=PAGE)

    @routes.get("/threads/{id}")
    def get_thread(id: int) -> object:
        with engine.begin() as database:
            return one(database, THREAD, id=id)

    @routes.get("/threads/{id}/comments")
    def list_comments(id: int) -> object:
        with engine.begin() as database:
            return rows(database, COMMENTS, thread=id, page=PAGE)

    @routes.post("/threads", status_code=201)
    def create_thread(course: int, written: Text) -> object:
        with engine.begin() as database:
            query = (
                "INSERT INTO thread (course, author, title, body) VALUES (:course, :author, 'New', :body) RETURNING id"
            )
            return one(database, query, course=course, **written.model_dump())

    @routes.patch("/threads/{id}")
    def change_thread(id: int, written: Text) -> object:
        with engine.begin() as database:
            one(database, "UPDATE thread SET body = :body WHERE id = :id RETURNING id", id=id, body=written.body)
            return one(database, THREAD, id=id)

    @routes.delete("/threads/{id}")
    def delete_thread(id: int) -> object:
        with engine.begin() as database:
            rows(database, "DELETE FROM comment WHERE thread = :id RETURNING id", id=id)
            return one(database, "DELETE FROM thread WHERE id = :id RETURNING id", id=id)

    @routes.post("/threads/{id}/comments", status_code=201)
    def create_comment(id: int, written: Text, parent: int | None = None) -> object:
        with engine.begin() as database:
            return one(database, ADD_COMMENT, thread=id, parent=parent, **written.model_dump())

    @routes.patch("/comments/{id}")
    def change_comment(id: int, written: Text) -> object:
        with engine.begin() as database:
            return one(
                database, "UPDATE comment SET body = :body WHERE id = :id RETURNING id", id=id, body=written.body
            )

    @routes.delete("/comments/{id}")
    def delete_comment(id: int) -> object:
        with engine.begin() as database:
            rows(database, "DELETE FROM comment WHERE parent = :id RETURNING id", id=id)
            return one(database, "DELETE FROM comment WHERE id = :id RETURNING id", id=id)

    @routes.get("/_comments")
    def count() -> object:
        with engine.begin() as database:
            return one(database, "SELECT count(*) FROM comment")["count"]

    return routes
