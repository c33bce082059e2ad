"""The handlers as coroutines on the event loop, with an async session. The same routes as routes_sync.py."""

from collections.abc import AsyncIterator
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Depends, HTTPException
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from .models import Todo, TodoCreate, TodoRead, newest_first
from .variants import Variant


def router(engine: AsyncEngine, variant: Variant) -> APIRouter:
    """The service's routes over an async engine."""

    async def session() -> AsyncIterator[AsyncSession]:
        async with AsyncSession(engine) as opened:
            yield opened

    in_session: TypeAlias = Annotated[AsyncSession, Depends(session)]
    routes = APIRouter()

    @routes.get("/todos/", response_model=list[TodoRead])
    async def list_todos(db: in_session) -> object:
        return (await db.scalars(newest_first(variant))).all()

    @routes.post("/todos/", response_model=TodoRead, status_code=201)
    async def create_todo(todo: TodoCreate, db: in_session) -> object:
        row = Todo(**todo.model_dump())
        db.add(row)
        await db.commit()
        await db.refresh(row)
        return row

    @routes.get("/todos/{id}", response_model=TodoRead)
    async def get_todo(id: int, db: in_session) -> object:
        todo = await db.get(Todo, id)
        if todo is None:
            raise HTTPException(404, f"no todo {id}")
        return todo

    @routes.get("/_rows")
    async def rows(db: in_session) -> int:
        return await db.scalar(select(func.count()).select_from(Todo)) or 0

    return routes
