"""The unfinished scenario of a plan: the targets that its steps have named so far, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plimsoll.load import origins
from plimsoll.load.bodies import header_lines, overridden
from plimsoll.load.mistakes import Complaint, nearest, shown
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from plimsoll.load.auth.table import AuthTable
    from plimsoll.load.origins import Address
    from plimsoll.load.step_model import StepTable
    from plimsoll.load.table import HeadersTable


@dataclass(slots=True)
class Draft:
    """What the definition of a step depends on besides the step."""

    headers: HeadersTable
    """Headers of the plan: each target has them."""
    http2: bool
    """Requests to targets of whole URLs are HTTP/2."""
    timeout: float | None
    """Seconds; None: no limit."""
    idle_timeout: float | None
    """Seconds; None: no limit."""
    think: dict[str, Any] | None = None
    """The pause after a step of the flow that is being read, if the step names none."""
    connection: str = ""
    """The name of the WebSocket that the flow has opened last."""
    targets: list[dict[str, Any]] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)
    """The path prefix of each target."""
    names: list[str | None] = field(default_factory=list)
    """By which steps select the targets of the plan, in its order."""
    sources: dict[str, str] = field(default_factory=dict)
    """Field of the plan, by field of the scenario."""
    complaints: list[Complaint] = field(default_factory=list)
    auths: list[tuple[AuthTable, str]] = field(default_factory=list)
    """Ways to say who sends a request, with their fields in the plan; steps have their number."""
    copies: dict[int | str, int] = field(default_factory=dict)
    """Targets with HTTP/2 that a step has needed, by the target that they are a copy of, or by their origin."""

    def complain(self, path: str, why: str) -> None:
        """path: of the field of the plan."""
        self.complaints.append(Complaint(path, why))

    def auth(self, auth: AuthTable, path: str) -> int | None:
        """The number of a table; None if it is a header. path: of the table in the plan."""
        if auth.scheme is None:
            return None
        for number, (known, _) in enumerate(self.auths):
            if known == auth:
                return number
        self.auths.append((auth, path))
        return len(self.auths) - 1

    def add(self, url: str, http2: bool | None, own: HeadersTable, settings: dict[str, Any]) -> None:
        """A target of the plan. http2: None for the plan's. settings: further fields of the target."""
        address, is_grpc = origins.split_target(url)
        headers = overridden(header_lines(self.headers), header_lines(own))
        http2 = is_grpc or (self.http2 if http2 is None else http2)
        self._append(
            origins.target(address.origin, headers, http2=http2) | settings, origins.escaped(address.path.rstrip("/"))
        )

    def locate(
        self, step: StepTable, where: str, path: str, address: Address | None, *, http2: bool | None = None
    ) -> tuple[int, str]:
        """The index of a step's target, and the path on it. where: the path as written. path: of the step in the plan.
        address: of a whole URL. http2: None for the plan's."""
        if address is not None:
            for index, target in enumerate(self.targets):
                if target["url"] == address.origin and index not in self.copies.values():
                    return index, address.path
            return self._add_origin(address.origin, self.http2 if http2 is None else http2), address.path
        named = self._named(step, path)
        if named is None:
            return 0, where
        if not self.bases:
            self.complain(
                f"{path}.{step.maker}",
                'has no target; write target = "http://127.0.0.1:8000" at the top of the plan',
            )
            return 0, where
        return named, self.bases[named] + where

    def token_target(self, url: str) -> tuple[int, str]:
        """The index of the target of a token service, and the path on it. url: also a path of the first target."""
        if url.startswith("/"):
            # Without a target its steps are complained of.
            return 0, (self.bases or [""])[0] + url
        address = origins.split_url(url)
        known = next((index for index, target in enumerate(self.targets) if target["url"] == address.origin), None)
        if known is not None:
            return known, address.path
        self.targets.append(origins.target(address.origin))
        self.bases.append("")
        return len(self.targets) - 1, address.path

    def http2_target(self, step: StepTable, path: str, address: Address | None) -> int:
        """The index of the step's target if that has HTTP/2, else of a copy of it with HTTP/2."""
        if address is not None:
            if address.origin not in self.copies:
                self.copies[address.origin] = self._add_origin(address.origin, http2=True)
            return self.copies[address.origin]
        index, _ = self.locate(step, "", path, None)
        if not self.targets or self.targets[index].get("http2"):
            return index
        if index not in self.copies:
            self.copies[index] = self._append(self.targets[index] | {"http2": True}, "")
        return self.copies[index]

    def _named(self, step: StepTable, path: str) -> int | None:
        """The index of the step's target; 0 if it names none, None if there is none with this name."""
        if step.target is None:
            return 0
        if step.target in self.names:
            return self.names.index(step.target)
        known = [name for name in self.names if name is not None]
        meant = nearest(step.target, known)
        hint = f"named are {listed(known)}" if known else "none has one"
        if meant:
            hint = f"did you mean {shown(meant)}?"
        self.complain(f"{path}.target", f"no target has the name {shown(step.target)}; {hint}")
        return None

    def _add_origin(self, origin: str, http2: bool) -> int:
        return self._append(origins.target(origin, header_lines(self.headers), http2=http2), "")

    def _append(self, target: dict[str, Any], base: str) -> int:
        self.targets.append(target)
        self.bases.append(base)
        return len(self.targets) - 1
