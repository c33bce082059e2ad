"""The handlers as coroutines on the event loop, with an async session. The same routes as routes_sync.py."""

from collections.abc import AsyncIterator
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Depends, HTTPException
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from .models import Todo, TodoCreate, TodoRead, newest_first
from .replies import api_router
from .variants import Variant


def router(reads: AsyncEngine, writes: AsyncEngine, variant: Variant) -> APIRouter:
    """The service's routes over async engines, which may be the same."""

    async def reading_session() -> AsyncIterator[AsyncSession]:
        async with AsyncSession(reads) as opened:
            yield opened

    async def writing_session() -> AsyncIterator[AsyncSession]:
        async with AsyncSession(writes) as opened:
            yield opened

    reading: TypeAlias = Annotated[AsyncSession, Depends(reading_session)]
    writing: TypeAlias = Annotated[AsyncSession, Depends(writing_session)]
    routes = api_router(variant)

    @routes.get("/todos/", response_model=list[TodoRead])
    async def list_todos(db: reading) -> object:
        return (await db.scalars(newest_first(variant))).all()

    @routes.post("/todos/", response_model=TodoRead, status_code=201)
    async def create_todo(todo: TodoCreate, db: writing) -> object:
        row = Todo(**todo.model_dump())
        db.add(row)
        await db.commit()
        await db.refresh(row)
        return row

    @routes.get("/todos/{id}", response_model=TodoRead)
    async def get_todo(id: int, db: reading) -> object:
        todo = await db.get(Todo, id)
        if todo is None:
            raise HTTPException(404, f"no todo {id}")
        return todo

    return routes
