"""Formulas on one line: their shape where they have one, and each of their words however deep it stands."""

from tasks.reading.ooxml import drawings
from tasks.reading.ooxml.drawings import paragraphs
from tests.cases import cases


def run(words: str) -> str:
    return f"<m:r><m:t>{words}</m:t></m:r>"


def fraction(above: str, below: str) -> str:
    return f"<m:f><m:num>{above}</m:num><m:den>{below}</m:den></m:f>"


def shown(formula: str) -> str:
    data = f"<m:oMath>{formula}</m:oMath>".encode()
    return b"".join(drawings.formula_words(data, 0, len(data))).decode()


@cases(
    ("formula", "line"),
    [
        (fraction(run("a"), run("b")), "a/b"),
        (f"<m:sSup><m:e>{run('x')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>", "x²"),
        (f"<m:sSub><m:e>{run('x')}</m:e><m:sub>{run('max')}</m:sub></m:sSub>", "x_(max)"),
        (f"<m:rad><m:deg>{run('3')}</m:deg><m:e>{run('y')}</m:e></m:rad>", "√y"),
        (run("a &lt; b &amp; c"), "a < b &amp; c"),
        (f"<m:rPr><m:t/></m:rPr><m:r><m:t xml:space='preserve'> z</m:t></m:r>{run('')}", " z"),
    ],
)
def test_a_formula_keeps_its_shape_on_a_line(formula: str, line: str) -> None:
    assert shown(formula) == line


@cases("depth", [60, 300, 5000])
def test_no_word_is_lost_however_deep_a_formula_is(depth: int) -> None:
    deep = "".join(f"<m:f><m:num>{run(f'w{level} ')}" for level in range(depth)) + "</m:num></m:f>" * depth
    words = [f"w{level}" for level in range(depth)]
    assert shown(deep).replace("/", "").split() == words
    slide = f"<a:p><a:r><a:t>so </a:t></a:r><m:oMath>{deep}</m:oMath></a:p>".encode()
    assert paragraphs(slide)[0].replace("/", "").split() == ["so", *words]


def test_a_formula_of_megabytes_comes_flat() -> None:
    assert shown(fraction(run("a" * (1 << 20)), run("b"))) == "a" * (1 << 20) + "b"
