"""What a running todos service says of itself. Each cell runs hooks that import this: few imports, a fast start."""

import json
import urllib.request
from dataclasses import dataclass
from typing import Any

REPLY_SECONDS = 10.0


@dataclass(frozen=True)
class TodosService:
    """The running service."""

    url: str
    """http://127.0.0.1:PORT"""

    def requests(self) -> dict[str, int]:
        """The service's own counts, as {"GET /todos/": 12, …}."""
        return dict(self._get("/_count"))

    def rows(self) -> int:
        """The number of todos in the table."""
        return int(self._get("/_rows"))

    def variant(self) -> str:
        """The name of the running build."""
        return str(self._get("/_variant"))

    def plan(self) -> str:
        """PostgreSQL's current plan of the list query, as EXPLAIN prints it."""
        return self._call("/_explain").decode()

    def lag(self) -> str:
        """The lag of the replica: "1.2 ms", or "no replica"."""
        lag = self._get("/_lag")
        return lag if isinstance(lag, str) else f"{lag:.1f} ms"

    def seed(self, rows: int, of: int | None = None) -> int:
        """Replace all todos by `of` new ones, delete all but `rows` of them, and vacuum. Returns their number."""
        return int(self._call(f"/_seed?rows={rows}&of={rows if of is None else of}", "POST"))

    def _get(self, path: str) -> Any:
        return json.loads(self._call(path))

    def _call(self, path: str, method: str = "GET") -> bytes:
        request = urllib.request.Request(self.url + path, method=method)
        with urllib.request.urlopen(request, timeout=REPLY_SECONDS) as reply:
            return bytes(reply.read())
