"""The XML of a JMeter test plan as a tree of elements, each with its properties and its children."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_JMX = 32 << 20
"""Characters."""
DEEPEST_XML = 200
BEGINS = re.compile(r"\s*(?:<\?xml[^>]{0,200}\?>)?\s*(?:<!--.{0,2000}?-->\s*)*<jmeterTestPlan\b", re.DOTALL)


@dataclass(slots=True)
class XmlNode:
    """One element of XML."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    children: list[XmlNode] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Of a property."""
        return self.attributes.get("name", "")

    def child(self, name: str) -> XmlNode | None:
        """The property of this name; None if there is none."""
        return next((child for child in self.children if child.name == name), None)

    def value(self, name: str, otherwise: str = "") -> str:
        """The text of the property of this name."""
        child = self.child(name)
        return otherwise if child is None else child.text.strip()

    def is_on(self, name: str) -> bool:
        return self.value(name).lower() == "true"

    def collected(self, *names: str) -> list[XmlNode]:
        """The elements in a property within properties."""
        node: XmlNode | None = self
        for name in names:
            node = None if node is None else node.child(name)
        return [] if node is None else node.children


@dataclass(frozen=True, slots=True)
class JmeterElement:
    """An element of a test plan, and those in its hash tree."""

    node: XmlNode
    children: tuple[JmeterElement, ...] = ()

    @property
    def kind(self) -> str:
        """ThreadGroup, HTTPSamplerProxy, …"""
        return self.node.tag

    @property
    def title(self) -> str:
        return self.node.attributes.get("testname") or self.kind

    @property
    def is_enabled(self) -> bool:
        return self.node.attributes.get("enabled", "true") != "false"


def read_jmx(name: str, text: str) -> tuple[JmeterElement, ...]:
    """The elements at the top. Raises UsageError with the line for what is no test plan, and for one with entities."""
    if len(text) > LONGEST_JMX:
        raise UsageError(f"{name}: longer than {LONGEST_JMX >> 20} MiB")
    root = _tree(name, text)
    if root.tag != "jmeterTestPlan":
        raise UsageError(f"{name}: its outermost element is {root.tag}; is this a test plan of JMeter?")
    return tuple(element for node in root.children if node.tag == "hashTree" for element in _elements(node))


def _elements(hash_tree: XmlNode) -> Iterator[JmeterElement]:
    """A hash tree has elements, and after each one the hash tree with what is in it."""
    nodes = hash_tree.children
    for number, node in enumerate(nodes):
        if node.tag != "hashTree":
            following = nodes[number + 1] if number + 1 < len(nodes) else None
            inner = tuple(_elements(following)) if following is not None and following.tag == "hashTree" else ()
            yield JmeterElement(node, inner)


def _tree(name: str, text: str) -> XmlNode:
    root = XmlNode("")
    stack = [root]
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def where() -> str:
        return f"{name}:{parser.CurrentLineNumber}"

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > DEEPEST_XML:
            raise UsageError(f"{where()}: more than {DEEPEST_XML} elements within each other")
        node = XmlNode(tag, attributes)
        stack[-1].children.append(node)
        stack.append(node)

    def end(_: str) -> None:
        stack.pop()

    def characters(data: str) -> None:
        stack[-1].text += data

    def refuse(*_: object) -> None:
        raise UsageError(f"{where()}: has declarations of its own (DOCTYPE), which a test plan does not need")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = characters, refuse
    try:
        # The text is decoded already, whatever its declaration says.
        parser.Parse(re.sub(r"^\s*<\?xml[^>]*\?>", "", text).encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        said = expat.errors.messages[error.code]
        raise UsageError(f"{name}:{error.lineno}:{error.offset + 1}: not XML: {said}") from error
    return root.children[0]
