"""A step of the tests: a query of GraphQL, and its row in the registry; run as a script, `plimsoll` that has it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from plimsoll.load.bodies import header_lines
from plimsoll.load.protocols.steps import STEPS
from plimsoll.load.step_model import StepTable

if TYPE_CHECKING:
    from plimsoll.load.protocols.draft import Draft


class GraphqlStep(StepTable):
    """[[flow.step]] with graphql: a query."""

    made_by: ClassVar = ("graphql",)
    called: ClassVar = "a query"
    instead: ClassVar = {"body": "the query is in graphql"}

    graphql: str | None = None
    """The query."""

    def definition(self, draft: Draft, path: str) -> dict[str, Any]:
        target, where = draft.locate(self, "/graphql", path, None)
        body = {"json": json.dumps({"query": self.graphql})}
        own = {"name": self.name or "query", "target": target, "method": "POST", "path": where}
        return {**own, "headers": header_lines(self.headers), **self.common(draft, body)}


STEPS.append(GraphqlStep)

if __name__ == "__main__":
    from plimsoll.cli import main

    main(prog_name="plimsoll")
