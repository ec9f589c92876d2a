"""What lies in the memory drive and who may see it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from secrets import token_urlsafe


@dataclass(slots=True)
class Node:
    """A folder (no content, no target), a document (content) or a shortcut (target, the id of another node)."""

    id: str
    name: str
    parent: str | None
    content: bytes | None = None
    target: str | None = None
    version: int = 1
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated: datetime = field(default_factory=lambda: datetime.now(UTC))
    readers: set[str] = field(default_factory=set)
    restricted: bool = False
    """Whether only its own readers count, not those of the folders above."""
    downloadable: bool = True


class Store:
    """The nodes by id, and the tokens and codes that stand for users."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.tokens: dict[str, str] = {}
        self.codes: dict[str, str] = {}
        self._ids = count(1)

    def root(self, user: str) -> Node:
        """The user's own top folder."""
        if (root_id := f"root-of-{user}") not in self.nodes:
            self.nodes[root_id] = Node(root_id, user, None, readers={user})
        return self.nodes[root_id]

    def add(self, name: str, parent: Node, content: bytes | None = None, target: str | None = None) -> Node:
        node = Node(f"m{next(self._ids)}", name, parent.id, content, target)
        self.nodes[node.id] = node
        return node

    def write(self, node: Node, content: bytes) -> None:
        node.content, node.version, node.updated = content, node.version + 1, datetime.now(UTC)

    def children(self, folder_id: str) -> list[Node]:
        return sorted((node for node in self.nodes.values() if node.parent == folder_id), key=lambda node: node.name)

    def child(self, folder_id: str, name: str) -> Node | None:
        return next((node for node in self.children(folder_id) if node.name == name), None)

    def seen(self, user: str, node_id: str) -> Node | None:
        """The node, if the user may see it."""
        return next((self.nodes[node_id] for node in self._upwards(node_id) if user in node.readers), None)

    def token(self, user: str) -> str:
        """A new access token."""
        token = token_urlsafe(16)
        self.tokens[token] = user
        return token

    def _upwards(self, node_id: str | None) -> Iterator[Node]:
        """The node and the folders above it that hand on their readers to it."""
        while node_id is not None and (node := self.nodes.get(node_id)) is not None:
            yield node
            node_id = None if node.restricted else node.parent


STORES: dict[str, Store] = {}
"""The stores by the name that DILIGENCE_MEMORY_STORE takes."""
