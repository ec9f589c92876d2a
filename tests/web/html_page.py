"""What a browser would make of a page: its elements, its words, where it leads, and what it loads."""

import re
from functools import cached_property
from html.parser import HTMLParser


class Page(HTMLParser):
    """A page by its source. `elements` are (tag, attributes), in order; addresses that hold their data are no links."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of each element of that name."""
        return [attributes for name, attributes in self.elements if name == tag]

    @cached_property
    def text(self) -> str:
        return re.sub(r"[ \n]+", " ", " ".join(self.words))

    @cached_property
    def ids(self) -> set[str]:
        return {value for _, attributes in self.elements if (value := attributes.get("id"))}

    @cached_property
    def links(self) -> list[str]:
        """The addresses that the page leads to or loads."""
        values = [attributes.get(name) for _, attributes in self.elements for name in ("href", "src")]
        return [value for value in values if value and not value.startswith("data:")]

    @cached_property
    def loaded(self) -> set[str]:
        """Those of them that a browser opens by itself."""
        values = [attributes.get("src") for _, attributes in self.elements]
        values += [attributes.get("href") for attributes in self.all("link")]
        return {value for value in values if value}
