"""Which styles make headings, by name, by level, by what they are based on."""

from tasks.reading.docx.styles import StyleFacts, Styles
from tests.cases import cases

STYLES = b"""<w:styles>
<w:style w:type="paragraph" w:default="1" w:styleId="a"><w:name w:val="Normal"/></w:style>
<w:style w:type='paragraph' w:styleId='1'><w:name w:val='Heading 1'/><w:basedOn w:val='a'/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:styleId="Level" w:type="paragraph"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="3"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Body"><w:name w:val="y"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Based"><w:name w:val="z"/><w:basedOn w:val="Again"/></w:style>
<w:style w:type="paragraph" w:styleId="Again"><w:basedOn w:val="1"/><w:name w:val="heading"/></w:style>
<w:style w:type="paragraph" w:styleId="Ring"><w:basedOn w:val="Round"/></w:style>
<w:style w:type="paragraph" w:styleId="Round"><w:basedOn w:val="Ring"/></w:style>
<w:style w:type="paragraph" w:styleId="Lost"><w:basedOn w:val="Nowhere"/></w:style>
</w:styles>"""


@cases("style", [b"1", b"Titel", b"Level", b"Based", b"Again", b"Heading2", b"Title"])
def test_headings(style: bytes) -> None:
    styles = Styles(lambda: STYLES)
    for _ in range(2):
        facts = styles[style]
        assert facts is not None
        assert facts.heading


@cases("style", [b"a", b"Body", b"Ring", b"Round", b"Lost", b"Nowhere", b"", b"Normal", b"TOC1"])
def test_other_styles(style: bytes) -> None:
    styles = Styles(lambda: STYLES)
    assert styles[style] is None
    assert styles[style] is None


def test_styles_are_loaded_for_what_word_does_not_say_itself_and_once() -> None:
    loads: list[int] = []

    def load() -> bytes:
        loads.append(1)
        return STYLES

    styles = Styles(load)
    assert styles[b"Heading1"] == StyleFacts(heading=True)
    assert styles[b"ListParagraph"] is None
    assert loads == []
    assert styles[b"1"] == StyleFacts(heading=True)
    assert styles[b"Titel"] == StyleFacts(heading=True)
    assert loads == [1]


def test_a_chain_of_a_hundred_thousand_styles_ends() -> None:
    chain = b"".join(
        b'<w:style w:styleId="s%d"><w:basedOn w:val="s%d"/></w:style>' % (n, n + 1) for n in range(100_000)
    )
    assert Styles(lambda: chain)[b"s0"] is None
