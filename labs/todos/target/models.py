"""A todo: as a row, as a request body, and as a response."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Engine, Identity, Index, Select, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from .variants import Variant

FIRST_ID = 10_000
"""The first id has five digits. Then every todo of the locustfile is 137 bytes of JSON, and a list of 200 is 27,601
bytes, so the size of a response shows the number of todos."""


class Base(DeclarativeBase):
    """The service's tables."""


class Todo(Base):
    """One row of the only table."""

    __tablename__ = "todos"

    id: Mapped[int] = mapped_column(Identity(start=FIRST_ID), primary_key=True)
    title: Mapped[str]
    description: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class TodoCreate(BaseModel):
    """The body of `POST /todos/`."""

    title: str
    description: str


class TodoRead(BaseModel):
    """A todo in a reply."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    title: str
    description: str
    created_at: datetime


def newest_first(variant: Variant) -> Select[Todo]:
    """The query of `GET /todos/`."""
    return select(Todo).order_by(Todo.created_at.desc()).limit(variant.limit)


def create_schema(engine: Engine, variant: Variant) -> None:
    """Make the table, and the index if this variant has one."""
    Base.metadata.create_all(engine)
    if variant.index:
        Index("idx_todos_created_at", Todo.created_at.desc()).create(engine, checkfirst=True)
