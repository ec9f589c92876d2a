"""The groups of RTF: what an open one has set, which are no part of the paragraph round them, which are skipped."""

from typing import Final, NamedTuple

from tasks.reading.places import COMMENT, FOOTER, FOOTNOTE, HEADER, TEXT_BOX
from tasks.reading.rtf.layout import Story

SKIPPED: Final = frozenset(
    "aftnsep aftnsepc annotationprop atnid atnref atrfend atrfstart background bkmkend bkmkstart blipuid buptim "  # noqa: SIM905 - a list of words reads best as words
    "colortbl comment datafield datastore docvar ffdeftext ffentrymcr ffexitmcr ffformat ffhelptext ffname ffstattext "
    "filetbl fldinst formfield ftnsep ftnsepc generator info keycode latentstyles listoverridetable listtable "
    "mmathPict nonesttables nonshppict objalias objclass objname objtime oleclsid panose pgptbl pn pnseclvl printim "
    "private revtim rsidtbl rxe shprslt tc template themedata txe userprops xe xmlnstbl wgrffmtfilter".split()
)
STORIES: Final = {
    "header": HEADER, "headerl": HEADER, "headerr": HEADER, "headerf": HEADER,
    "footer": FOOTER, "footerl": FOOTER, "footerr": FOOTER, "footerf": FOOTER,
    "footnote": FOOTNOTE, "annotation": COMMENT, "shptxt": TEXT_BOX, "dptxbxtext": TEXT_BOX,
}  # fmt: skip
"""What is printed on each page, and what stands beside the body."""

_MATH: Final = frozenset(
    "mmath moMath moMathPara mr macc mbar mbox mborderBox md mdeg mden mdiff me meqArr mf mfName mfunc mgroupChr mlim "  # noqa: SIM905 - as above
    "mlimLow mlimUpp mm mmr mnary mnum mphant mrad msPre msSub msSubSup msSup msub msup".split()
)
READ: Final = _MATH | {
    "dptxbxtext", "do", "nesttableprops", "picprop", "shpinst", "shppict", "shptxt", "sp", "ud", "upr",
}  # fmt: skip
r"""Destinations that are read though `\*` says that others may skip them."""

SPELLED: Final = frozenset({"listtext", "pntext"})
"""The numbers and bullets of lists, as they are shown."""


class State(NamedTuple):
    """What the open group has set. `story` is None where its words are no text."""

    story: Story | None
    capture: bool = False  # words are kept for somebody: a shape's property, an author
    encoding: str = "cp1252"
    fallbacks: int = 1
    hidden: bool = False
    deleted: bool = False
    inserted: bool = False
    listed: bool = False


class Paragraph:
    r"""What the open paragraph has set; it holds until `\pard`."""

    def __init__(self) -> None:
        self.heading = False
        self.in_table = False
        self.depth = 1
