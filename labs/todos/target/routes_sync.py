"""The handlers as functions: FastAPI runs each in a pool of threads, with a blocking session."""

from collections.abc import Iterator
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Depends, HTTPException
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from .models import Todo, TodoCreate, TodoRead, newest_first
from .variants import Variant


def router(engine: Engine, variant: Variant) -> APIRouter:
    """The service's routes over a blocking engine."""

    def session() -> Iterator[Session]:
        with Session(engine) as opened:
            yield opened

    in_session: TypeAlias = Annotated[Session, Depends(session)]
    routes = APIRouter()

    @routes.get("/todos/", response_model=list[TodoRead])
    def list_todos(db: in_session) -> object:
        return db.scalars(newest_first(variant)).all()

    @routes.post("/todos/", response_model=TodoRead, status_code=201)
    def create_todo(todo: TodoCreate, db: in_session) -> object:
        row = Todo(**todo.model_dump())
        db.add(row)
        db.commit()
        db.refresh(row)
        return row

    @routes.get("/todos/{id}", response_model=TodoRead)
    def get_todo(id: int, db: in_session) -> object:
        todo = db.get(Todo, id)
        if todo is None:
            raise HTTPException(404, f"no todo {id}")
        return todo

    @routes.get("/_rows")
    def rows(db: in_session) -> int:
        return db.scalar(select(func.count()).select_from(Todo)) or 0

    return routes
