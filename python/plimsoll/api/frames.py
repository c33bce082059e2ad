"""Tables: a sequence of records, and the same as a frame of pyarrow, pandas or polars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from plimsoll.distribution import with_extra
from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")

_ARROW = {int: "int64", float: "float64", str: "string", bool: "bool_"}
_PANDAS = {int: "Int64", float: "float64", str: "str", bool: "boolean"}
_POLARS = {int: "Int64", float: "Float64", str: "String", bool: "Boolean"}
"""Types of the columns. All may have missing values."""


@dataclass(frozen=True, slots=True)
class Layout(Generic[T]):
    """Columns of a frame."""

    types: Mapping[str, type]
    """By name: int, float, str or bool."""
    values: Callable[[T], Sequence[object]]
    """Of a record, in the same order; None where there is none."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table(Sequence[T]):
    """Records, in their order. A frame of them has a column for each number and text; times are in ms, and a column
    `…_share_ms` has how much of a time the generator may have added."""

    records: tuple[T, ...]
    layout: Layout[T]
    about: Mapping[str, str] = field(default_factory=dict)
    """Of which run they are: metadata of the Arrow table, `attrs` of the pandas frame."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self.records[index]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[T]:
        return iter(self.records)

    def __repr__(self) -> str:
        return f"<Table of {len(self)} records with {len(self.layout.types)} columns>"

    def _repr_html_(self) -> str | None:
        """In a notebook it looks like the frame."""
        try:
            shown: str = self.to_pandas()._repr_html_()
        except UsageError:
            return None
        return shown

    def columns(self) -> dict[str, list[object]]:
        """The values by column; needs no library."""
        rows = [self.layout.values(record) for record in self.records]
        return {name: [row[number] for row in rows] for number, name in enumerate(self.layout.types)}

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`. Raises UsageError when pyarrow is not installed."""
        arrow = _library("pyarrow", "to_arrow", f"'{with_extra('parquet')}'")
        fields = [(name, getattr(arrow, _ARROW[kind])()) for name, kind in self.layout.types.items()]
        return arrow.Table.from_pydict(self.columns(), schema=arrow.schema(fields, metadata=dict(self.about)))

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`. Raises UsageError when pandas is not installed."""
        pandas = _library("pandas", "to_pandas", "pandas")
        types = self.layout.types
        series = {name: pandas.Series(values, dtype=_PANDAS[types[name]]) for name, values in self.columns().items()}
        frame = pandas.DataFrame(series)
        frame.attrs.update(self.about)
        return frame

    def to_polars(self) -> Any:
        """A `polars.DataFrame`. Raises UsageError when polars is not installed."""
        polars = _library("polars", "to_polars", "polars")
        return polars.DataFrame(
            self.columns(),
            schema={name: getattr(polars, _POLARS[kind]) for name, kind in self.layout.types.items()},
        )


def _library(name: str, method: str, package: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(f"{method}() needs {name}: pip install {package}") from error
