"""The handlers as functions with a blocking session: FastAPI runs each in a thread pool. With `async` before `def` and
no other change, they run on the event loop and block it."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Depends, HTTPException
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from .models import Todo, TodoCreate, TodoRead, newest_first
from .replies import api_router
from .variants import Handlers, Variant

Handler = Callable[..., object]


def router(reads: Engine, writes: Engine, variant: Variant) -> APIRouter:
    """The service's routes over blocking engines, which may be the same."""

    def reading_session() -> Iterator[Session]:
        with Session(reads) as opened:
            yield opened

    def writing_session() -> Iterator[Session]:
        with Session(writes) as opened:
            yield opened

    reading: TypeAlias = Annotated[Session, Depends(reading_session)]
    writing: TypeAlias = Annotated[Session, Depends(writing_session)]
    routes = api_router(variant)
    handler = as_coroutine if variant.handlers is Handlers.ASYNC_BLOCKING else as_it_is

    @routes.get("/todos/", response_model=list[TodoRead])
    @handler
    def list_todos(db: reading) -> object:
        return db.scalars(newest_first(variant)).all()

    @routes.post("/todos/", response_model=TodoRead, status_code=201)
    @handler
    def create_todo(todo: TodoCreate, db: writing) -> object:
        row = Todo(**todo.model_dump())
        db.add(row)
        db.commit()
        db.refresh(row)
        return row

    @routes.get("/todos/{id}", response_model=TodoRead)
    @handler
    def get_todo(id: int, db: reading) -> object:
        todo = db.get(Todo, id)
        if todo is None:
            raise HTTPException(404, f"no todo {id}")
        return todo

    return routes


def as_it_is(function: Handler) -> Handler:
    return function


def as_coroutine(function: Handler) -> Handler:
    """Turns a blocking function into a coroutine, as `async` before its `def` would."""

    @wraps(function)
    async def run(*arguments: object, **named: object) -> object:
        return function(*arguments, **named)

    return run
