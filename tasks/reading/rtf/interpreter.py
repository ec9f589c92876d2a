r"""Follows the control words of an RTF document, and gives its words to the stories that they belong to.

What a group sets ends with it: the open groups are a list of states that never change, so that a million of them cost
eight bytes each. A destination that nobody reads is skipped brace by brace.
"""

import mmap
from typing import Any, Final

from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.places import (
    ALTERNATIVE_TEXT,
    COMMENT,
    ENDNOTE,
    FOOTER,
    FOOTNOTE,
    HEADER,
    comment_mark,
    label_of,
)
from tasks.reading.rtf import destinations, tokens
from tasks.reading.rtf.groups import READ, SKIPPED, SPELLED, STORIES, Paragraph, State
from tasks.reading.rtf.layout import Aside, Story
from tasks.reading.text_writer import Writer

_MOST_CHARACTERS: Final = 64 << 20
_AT_ONCE: Final = 4096
_LONGEST_GROUP: Final = 64 << 20


class Interpreter:
    """Reads one document, once."""

    def __init__(self, data: "bytes | mmap.mmap", writer: Writer) -> None:
        self._data = data
        self._writer = writer
        self._body = Story(writer)
        self._state = State(self._body)
        self._stack: list[State] = []
        self._ends: list[tuple[int, Any]] = []  # depth of a destination, and what to do when it ends
        self._raw: list[bytes] = []  # text that is not decoded yet
        self._captured: list[str] = []
        self._to_skip = 0  # fallbacks behind `\u` that are left
        self._high = 0  # the first half of a character beyond the basic plane
        self._star = False
        self._default = "cp1252"
        self._fonts: dict[int, str] = {}
        self._first_font = 0
        self._headings: set[int] = set()
        self._authors: list[str] = []
        self._revision = {"revauth": 0, "revdttm": 0, "revauthdel": 0, "revdttmdel": 0}
        self._paragraph = Paragraph()
        self._heads = False
        self._kinds: list[str] = []  # of the open stories beside the body
        self._property = ""
        self._comment = {"author": "", "date": ""}
        self._outside: dict[str, dict[str, None]] = {HEADER: {}, FOOTER: {}}
        self._removed: dict[str, None] = {}
        self._hidden = 0
        self._written = 0
        self._at = self._begun = self._count = 0  # `_begun`: where the last group was opened

    def run(self, start: int) -> None:
        """Read from the group that begins at `start` to its end, or to the end of the data."""
        self._at = start
        while self._at < len(self._data) and self._read_on():
            pass
        self._finish()

    def _read_on(self) -> bool:
        """Read on until a group was skipped, or all is read. Returns whether there may be more."""
        for match in tokens.TOKEN.finditer(self._data, self._at):
            self._at = at = match.end()
            kind = match.lastindex
            if kind == tokens.TEXT:
                self._text(match[kind])
            elif kind == tokens.WORD:
                number = match[kind]
                self._word(match[1].decode(), int(number) if number not in (b"", b"-") else None)
            elif kind == tokens.BRACE:
                if match[kind] == b"{":
                    self._flush()
                    self._to_skip = 0
                    self._stack.append(self._state)
                    self._begun = at
                else:
                    self._end_group()
                    if not self._stack:
                        return False
            elif kind == tokens.BYTE:
                self._text(bytes([int(match[kind], 16)]))
            elif kind == tokens.SIGN:
                self._symbol(match[kind])
            self._count += 1
            if self._count % _AT_ONCE == 0 and (limits.is_near() or self._written > _MOST_CHARACTERS):
                self._writer.warn("The document is too long: only its beginning was read.")
                return False
            if self._at != at:
                return True
        return False

    def _finish(self) -> None:
        self._flush()
        while self._ends:  # the groups between mean nothing any more, and may be millions
            depth = self._ends[-1][0]
            if depth < len(self._stack):
                self._state = self._stack[depth]
                del self._stack[depth:]
            self._end_group()
        self._body.finish(heading=self._paragraph.heading)
        self._writer.end_heading()
        for words in self._outside[FOOTER]:
            self._writer.placed(FOOTER, "", words)
        if self._hidden:
            self._writer.warn(f"The document hides text, which was left out ({self._hidden:,} characters).")
        if self._removed:
            names = "; ".join(filter(None, self._removed))
            self._writer.warn(f"Deleted text was left out{f' ({names})' if names else ''}.")

    # Words

    def _text(self, raw: bytes) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(raw))
            self._to_skip -= skipped
            raw = raw[skipped:]
        if raw:
            self._raw.append(raw)

    def _flush(self) -> None:
        """Decode what is waiting: two bytes may be one character, however they are written."""
        if self._raw:
            raw = b"".join(self._raw)
            self._raw = []
            if self._state.capture or self._state.story is not None:
                self._words(tokens.characters(raw, self._state.encoding))

    def _words(self, text: str) -> None:
        state = self._state
        if state.capture:
            self._captured.append(text)
        elif state.story is None:
            pass
        elif state.deleted:
            if len(self._removed) < 10 and text.strip():
                self._removed[self._revised("del")] = None
        elif state.hidden:
            self._hidden += len(text.strip())
        else:
            self._written += len(text)
            state.story.words(text, self._revised("") if state.inserted else None)

    def _revised(self, kind: str) -> str:
        number = self._revision[f"revauth{kind}"]
        author = self._authors[number] if number < len(self._authors) else ""
        return label_of(author, destinations.moment(self._revision[f"revdttm{kind}"] & 0xFFFFFFFF))

    def _unicode(self, number: int) -> None:
        self._flush()
        self._to_skip = self._state.fallbacks
        number &= 0xFFFF
        if 0xD800 <= number < 0xDC00:
            self._high = number
        elif 0xDC00 <= number < 0xE000:
            if self._high:
                self._words(chr(0x10000 + ((self._high - 0xD800) << 10) + number - 0xDC00))
            self._high = 0
        elif 0xF000 <= number < 0xF100:  # a sign of a font of signs
            self._words(tokens.characters(bytes([number - 0xF000]), tokens.SYMBOL))
        else:
            self._words(chr(number))

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._star = tokens.begins_group(self._data, self._begun, self._at - 2)
        elif self._to_skip:
            self._to_skip -= 1
        elif symbol in b"\\{}":
            self._raw.append(symbol)
        elif symbol in tokens.SIGNS:
            self._flush()
            self._words(tokens.SIGNS[symbol])
        elif symbol in b"\r\n":
            self._flush()
            self._end_paragraph()

    # Groups

    def _end_group(self) -> None:
        self._flush()
        self._to_skip = 0
        self._star = False
        while self._ends and self._ends[-1][0] >= len(self._stack):
            _, end = self._ends.pop()
            end()
        if self._stack:
            self._state = self._stack.pop()

    def _at_end(self, end: Any) -> None:
        self._ends.append((len(self._stack), end))

    def _skip_group(self) -> bytes:
        """What is left of the open group, unread; at most 64 MB of it."""
        start, self._at = self._at, tokens.end_of_group(self._data, self._at)
        return self._data[start : min(self._at, start + _LONGEST_GROUP)]

    def _story(self, kind: str) -> None:
        """The group is a story of its own, unless it is too deep in others; its lines stand elsewhere."""
        if len(self._kinds) == 8:
            return
        story, paragraph = Story(), self._paragraph
        self._paragraph = Paragraph()
        self._kinds.append(kind)
        outer = self._state.story
        self._state = self._state._replace(story=story, capture=False, hidden=False)

        def end() -> None:
            story.finish()
            self._paragraph = paragraph
            self._place(self._kinds.pop(), story.lines, outer)

        self._at_end(end)

    def _place(self, kind: str, lines: list[str], outer: Story | None) -> None:
        if kind == COMMENT:
            author, date = self._comment["author"], self._comment["date"]
            self._comment = {"author": "", "date": ""}
            words = one_line(" ".join(lines))
            if words and outer is not None:
                outer.aside(Aside(kind, label_of(author, date), [comment_mark(author, date, words)]))
        elif lines and kind in self._outside:
            words = "\n".join(lines)
            if kind == HEADER and not self._writer.written and words not in self._outside[kind]:
                self._writer.placed(kind, "", words)
            elif kind == HEADER and words not in self._outside[kind]:
                self._body.aside(Aside(kind, "", lines))
            self._outside[kind][words] = None
        elif lines and outer is not None:
            outer.aside(Aside(kind, "", lines))

    def _capture(self, use: Any) -> None:
        """The words of the group are for `use`."""
        outer = self._captured
        self._captured = []
        self._state = self._state._replace(capture=True)

        def end() -> None:
            words, self._captured = "".join(self._captured), outer
            use(words.strip())

        self._at_end(end)

    # Control words

    def _word(self, word: str, number: int | None) -> None:
        if self._to_skip and word != "u":
            self._to_skip -= 1
            return
        star, self._star = self._star, False
        if word == "u":
            if number is not None:
                self._unicode(number)
            return
        self._flush()
        if word in tokens.CHARACTERS:
            self._words(" " if self._state.listed and word == "tab" else tokens.CHARACTERS[word])
        elif word == "bin":
            self._at += max(number or 0, 0)
        elif not (self._layout(word, number) or self._format(word, number)):
            self._destination(word, star=star)

    def _layout(self, word: str, number: int | None) -> bool:
        """Paragraphs, cells and rows."""
        story, paragraph = self._state.story, self._paragraph
        if word in ("par", "sect", "page", "column"):
            self._end_paragraph()
        elif word == "pard":
            self._paragraph = Paragraph()
        elif word == "intbl":
            paragraph.in_table = True
        elif word == "itap":
            paragraph.depth = number or 0
            paragraph.in_table = paragraph.in_table or paragraph.depth > 0
        elif word == "s":
            paragraph.heading = number in self._headings
        elif word == "outlinelevel":
            paragraph.heading = number is not None and 0 <= number < 9
        elif word == "trowd":
            self._heads = False
        elif word == "trhdr":
            self._heads = True
        elif story is None or self._state.capture:
            return word in ("cell", "row", "nestcell", "nestrow")
        elif word == "cell":
            story.end_cell()
        elif word == "row":
            story.end_row(heads=self._heads)
        elif word == "nestcell":
            story.end_nested_cell(paragraph.depth)
        elif word == "nestrow":
            story.end_nested_row(paragraph.depth)
        else:
            return False
        return True

    def _end_paragraph(self) -> None:
        if self._state.capture:
            self._captured.append("\n")
        elif self._state.story is not None:
            self._state.story.end_paragraph(heading=self._paragraph.heading, in_table=self._paragraph.in_table)

    def _format(self, word: str, number: int | None) -> bool:
        """What a group sets, and the encoding."""
        on = number != 0
        if word == "f":
            self._state = self._state._replace(encoding=self._fonts.get(number or 0, self._default))
        elif word == "plain":
            encoding = self._fonts.get(self._first_font, self._default)
            self._state = self._state._replace(encoding=encoding, hidden=False, deleted=False, inserted=False)
        elif word == "v":
            self._state = self._state._replace(hidden=on)
        elif word == "deleted":
            self._state = self._state._replace(deleted=on)
        elif word == "revised":
            self._state = self._state._replace(inserted=on)
        elif word in self._revision:
            self._revision[word] = max(number or 0, 0) if "auth" in word else number or 0
        elif word == "uc":
            self._state = self._state._replace(fallbacks=min(max(number or 0, 0), 100))
        elif word in ("ansicpg", "mac", "pc", "pca", "ansi"):
            self._default = tokens.NAMED_CODE_PAGES.get(word) or tokens.code_page(number or 0)
            self._state = self._state._replace(encoding=self._default)
        elif word == "deff":
            self._first_font = number or 0
        else:
            return False
        return True

    def _destination(self, word: str, *, star: bool) -> None:
        """Groups that are no part of the paragraph round them."""
        if word in SKIPPED or (word.startswith("m") and word.endswith("Pr")):
            self._skip_group()
        elif word == "pict":
            self._picture(self._skip_group())
        elif word == "fonttbl":
            self._fonts = destinations.fonts(self._skip_group(), self._default)
            encoding = self._fonts.get(self._first_font, self._default)
            self._state = self._state._replace(encoding=encoding)
            self._stack = [state._replace(encoding=encoding) for state in self._stack[:100]] + self._stack[100:]
        elif word == "stylesheet":
            self._headings = destinations.heading_styles(self._skip_group())
        elif word == "revtbl":
            self._authors = destinations.authors(self._skip_group(), self._default)
        elif word in STORIES:
            self._story(STORIES[word])
        elif word == "ftnalt":
            if self._kinds[-1:] == [FOOTNOTE]:
                self._kinds[-1] = ENDNOTE
        elif word in ("atnauthor", "atndate"):
            self._capture(self._take_author if word == "atnauthor" else self._take_date)
        elif word in ("sn", "sv"):
            self._capture(self._take_property if word == "sn" else self._take_value)
        elif word in SPELLED:
            self._state = self._state._replace(listed=True)
        elif word == "objdata":
            self._attach(self._skip_group())
        elif word == "upr":
            self._at = tokens.behind_next_group(self._data, self._at)  # which the next one says again, in Unicode
        elif star and word not in READ:
            self._skip_group()

    def _take_author(self, words: str) -> None:
        self._comment["author"] = one_line(words)

    def _take_date(self, words: str) -> None:
        self._comment["date"] = destinations.moment(int(words) & 0xFFFFFFFF) if words.lstrip("-").isdecimal() else ""

    def _take_property(self, words: str) -> None:
        self._property = words

    def _take_value(self, words: str) -> None:
        story = self._stack[-1].story if self._stack else None
        if self._property == "wzDescription" and words.strip() and story is not None:
            story.aside(Aside(ALTERNATIVE_TEXT, "", [one_line(words)]))

    def _picture(self, raw: bytes) -> None:
        """The alternative text of a picture stands below it."""
        described = destinations.description(raw)
        if described and self._state.story is not None and not self._state.capture:
            writer = Writer()
            Interpreter(b"{\\rtf1 %s}" % described, writer).run(0)
            words = one_line(writer.reading().text)
            if words:
                self._state.story.aside(Aside(ALTERNATIVE_TEXT, "", [words]))

    def _attach(self, raw: bytes) -> None:
        embedded = destinations.embedded_file(raw)
        if embedded is not None:
            self._writer.attach(*embedded)
