"""Presentations of OpenDocument: titles first, notes, remarks, and slides that are not shown."""

from tasks.reading import read_document
from tests.tasks.reading.odf.packages import package


def frame(words: str, kind: str = "", **attributes: str) -> str:
    values = "".join(f' {name.replace("__", ":")}="{value}"' for name, value in attributes.items())
    return (
        f'<draw:frame presentation:class="{kind}"{values}><draw:text-box><text:p>{words}</text:p></draw:text-box>'
        "</draw:frame>"
    )


def test_a_slide_has_its_title_shapes_remarks_and_notes() -> None:
    notes = f"<presentation:notes><draw:page-thumbnail/>{frame('Say it slowly', 'notes')}</presentation:notes>"
    table = (
        "<draw:frame><table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table></draw:frame>"
    )
    remark = "<office:annotation><dc:creator>A. Author</dc:creator><text:p>Cut this</text:p></office:annotation>"
    group = "<draw:g><draw:custom-shape><text:p>In a group</text:p></draw:custom-shape></draw:g>"
    empty = frame("Click to add text", "outline", presentation__placeholder="true")
    body = (
        f"<draw:page>{frame('Body', 'outline', draw__name='Content 1')}{frame('Title', 'title')}{table}{group}{empty}"
        f"{remark}{notes}</draw:page><draw:page>{frame('Second')}</draw:page>"
    )
    reading = read_document(package("presentation", body), ".odp")
    assert reading.text == ("Title\nBody\na\tb\nIn a group\n[comment, A. Author: Cut this]\nSay it slowly\n\fSecond\n")
    kinds = [(place.kind, place.label) for place in reading.places]
    for expected in (("slide", "1"), ("shape", "title"), ("shape", "Content 1"), ("speaker_note", ""), ("slide", "2")):
        assert expected in kinds


def test_a_hidden_slide_is_marked() -> None:
    styles = (
        '<style:style style:name="dp2" style:family="drawing-page">'
        '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    )
    body = f"<draw:page draw:style-name='dp2'>{frame('Plan B')}</draw:page>"
    reading = read_document(package("presentation", body, styles), ".odp")
    assert reading.text == "[hidden slide]\nPlan B\n"
    assert [place.label for place in reading.places if place.kind == "hidden_slide"] == ["1"]


def test_numbers_go_on_in_a_list_right_behind_another() -> None:
    level = '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix=")"/>'
    styles = "".join(f'<text:list-style style:name="L{number}">{level}</text:list-style>' for number in (1, 2))
    lists = [
        f'<text:list text:style-name="L{number}"><text:list-item><text:p>{words}</text:p></text:list-item></text:list>'
        for number, words in ((1, "one"), (2, "two"), (1, "three"))
    ]
    box = (
        f"<draw:frame><draw:text-box>{lists[0]}{lists[1]}<text:p>plain</text:p>{lists[2]}</draw:text-box></draw:frame>"
    )
    reading = read_document(package("presentation", f"<draw:page>{box}</draw:page>", styles), ".odp")
    assert reading.text.splitlines() == ["1) one", "2) two", "plain", "1) three"]
