"""The handlers as coroutines with the blocking session of routes_sync.py: `async` before `def`, and nothing else."""

from collections.abc import Iterator
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Depends, HTTPException
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from .models import Todo, TodoCreate, TodoRead, newest_first
from .replies import api_router
from .variants import Variant


def router(reads: Engine, writes: Engine, variant: Variant) -> APIRouter:
    """The service's routes over blocking engines, which may be one and the same."""

    def reading_session() -> Iterator[Session]:
        with Session(reads) as opened:
            yield opened

    def writing_session() -> Iterator[Session]:
        with Session(writes) as opened:
            yield opened

    reading: TypeAlias = Annotated[Session, Depends(reading_session)]
    writing: TypeAlias = Annotated[Session, Depends(writing_session)]
    routes = api_router(variant)

    @routes.get("/todos/", response_model=list[TodoRead])
    async def list_todos(db: reading) -> object:
        return db.scalars(newest_first(variant)).all()

    @routes.post("/todos/", response_model=TodoRead, status_code=201)
    async def create_todo(todo: TodoCreate, db: writing) -> object:
        row = Todo(**todo.model_dump())
        db.add(row)
        db.commit()
        db.refresh(row)
        return row

    @routes.get("/todos/{id}", response_model=TodoRead)
    async def get_todo(id: int, db: reading) -> object:
        todo = db.get(Todo, id)
        if todo is None:
            raise HTTPException(404, f"no todo {id}")
        return todo

    return routes
