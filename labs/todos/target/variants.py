"""What the builds of the service differ in. One build is one row; a new build adds a row."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Variant:
    """One build of the service."""

    name: str
    asynchronous: bool
    """Handlers are coroutines with an async session, instead of functions in a pool of threads."""
    index: bool
    """The list's sort column, created_at, has an index."""
    limit: int | None
    """The list holds at most this many todos; None: all of them, so that the reply grows while the table does."""


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("baseline", asynchronous=False, index=False, limit=None),
        Variant("async-index-limit", asynchronous=True, index=True, limit=200),
    )
}


def variant_named(name: str) -> Variant:
    """The variant of that name. Raises ValueError, which lists the names there are."""
    try:
        return VARIANTS[name]
    except KeyError:
        raise ValueError(f"TODOS_VARIANT is {name!r}; there are: {', '.join(VARIANTS)}") from None
