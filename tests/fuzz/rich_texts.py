"""Small documents of the formats that are no Office files: what readers of texts, OpenDocument and pictures look at."""

from io import BytesIO
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw

from tasks.reading.ooxml import ole
from tests.tasks.reading.odf.packages import BULLETS, content, package

_WORKBOOK: Final = Path(__file__).parents[1] / "documents/types-of-cells.xls"
_MARKDOWN: Final = """---
title: Minutes
---
# First *heading*

Words | with a bar
-----------------

| a | b \\| c | `d | e` |
|:--|--:|:-:|
| 1 | 2 ||

```python
# no heading
```
~~~~
| no | table |
~~~~
Ünder
===
- item
  1. inner
"""
_JSON: Final = '{"a": [1, 2.5e10, null, true, "Gr\\u00f6\\u00dfe \\ud83d\\ude00"], "b": {"": []}}\n'
_XML: Final = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!DOCTYPE a>\n<a b="c"><![CDATA[<d>]]>\xf6 &amp;</a>\n'
_BOOK: Final = """<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:x="urn:schemas-microsoft-com:office:excel"
 xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Styles><Style ss:ID="s1"><NumberFormat ss:Format="Percent"/>
</Style><Style ss:ID="s2" ss:Parent="s1"/></Styles><Worksheet ss:Name="Ledger"><Table><Column ss:Index="2" ss:Hidden="1"
 ss:Span="3"/><Row ss:Hidden="1"><Cell><Data ss:Type="String">Größe</Data><Comment ss:Author="Ann"><ss:Data>remark
</ss:Data></Comment></Cell><Cell ss:Index="4" ss:StyleID="s2"><Data ss:Type="Number">0.125</Data></Cell></Row>
<Row ss:Index="9" ss:Span="4"><Cell ss:MergeAcross="1" ss:Formula="=R[-1]C"/><Cell>
<Data ss:Type="DateTime">2024-05-01T00:00:00.000</Data>
</Cell></Row></Table><WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel">
<PageSetup>
<Header x:Data="&amp;Ltop"/></PageSetup><Visible>SheetHidden</Visible></WorksheetOptions></Worksheet></Workbook>"""
_VALUES: Final = 'sep=;\nName;Betrag;"Ort ""x"""\n"Müller\nund Söhne";1.234,50;\n;"offen;-0,5\n\nc;d;e;f\n'
_PAGE: Final = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>Filing</title><style>.h{display:none}
p.s>b{visibility:hidden}</style></head><body><h1>Filing</h1><p class="s">one<br>two <b>three</b>&nbsp;&#8364;&euro;</p>
<div hidden>no</div><span style="display : none !important">no</span><del datetime="2024-05-01">old</del><ins cite=x>new
</ins><pre> a
   b</pre><ul><li>x<ol start=3 type=a><li>y<li value=9>z</ol></ul><table><caption>T</caption><thead><tr><th colspan=2>H
<tbody><tr><td rowspan=3>a<td>b<table><tr><td>inner</table><tr><td><p>c</p><p>d</p></table><select><option>1</select>
<textarea>t</textarea><input value=v><img alt="A picture"><svg><text>drawn</text></svg><math><mi>x</mi></math>
<noscript>n</noscript><script>if (a < b) {}</script><template>t</template><!-- c --><details><summary>s
</summary>d</details><ruby>漢<rp>(</rp><rt>kan</rt></ruby></body></html>"""
_RTF: Final = rb"""{\rtf1\ansi\ansicpg1252\deff0\uc1{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset128 M;}{\f2\fcharset2 S;}}
{\stylesheet{\s0 N;}{\s1\outlinelevel0 heading 1;}}{\*\revtbl{Unknown;}{Ann;}}
{\header\pard head\par}{\footer foot\par}
\pard\s1{\listtext\tab 1.\tab}Title\par\pard Gr\'f6\'dfe \u8364?\u-10179?\u-8704? {\f1\'82\'a0}{\f2\'b7}\~\_\-\line
{\v hidden}{\deleted\revauthdel1\revdttmdel1726444636 old}{\revised\revauth1\revdttm1726444636 new}
{\footnote\chftn A note{\footnote within}}{\*\atnauthor Ann}{\*\annotation{\*\atndate 1726444636}remark}\par
{\field{\*\fldinst HYPERLINK "x"}{\fldrslt link}}{\shp{\*\shpinst{\sp{\sn wzDescription}{\sv A seal}}
{\shptxt in a box\par}}}
{\*\shppict{\pict\pngblip\bin4 abcd}}{\upr{old}{\*\ud{\uc0\u1234 }}}\trowd\trhdr\cellx1000\cellx2000\intbl a\cell b
\nestcell{\*\nesttableprops\trowd\nestrow}\cell\row\trowd\cellx1000\intbl 1\cell\row\pard
{\object\objemb{\*\objdata 0105000002000000080000005061636b616765000000000000000000040000006162636400}{\result{x}}}
{\mmath{\*\moMath{\mf{\mnum{\mr a}}{\mden{\mr b}}}}}\page\sect end\par}"""
_TEXT_BODY: Final = (
    '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><office:change-info><dc:creator>'
    "Ann</dc:creator><dc:date>2024-05-01T10:00:00</dc:date></office:change-info><text:p>old</text:p>"
    '</text:deletion></text:changed-region><text:changed-region text:id="c2"><text:insertion><office:change-info>'
    "<dc:creator>Ben</dc:creator></office:change-info></text:insertion></text:changed-region>"
    '</text:tracked-changes><text:h text:outline-level="1">Title</text:h><text:p>Words<text:s text:c="3"/>'
    '<text:tab/><text:line-break/><text:change text:change-id="c1"/><text:change-start text:change-id="c2"/>'
    'new<text:change-end text:change-id="c2"/><text:note text:note-class="footnote"><text:note-citation>'
    "1</text:note-citation><text:note-body><text:p>A note</text:p></text:note-body></text:note>"
    "<office:annotation><dc:creator>Ann</dc:creator><text:p>remark</text:p></office:annotation><draw:frame>"
    "<svg:desc>A seal</svg:desc><draw:text-box><text:p>In a box</text:p></draw:text-box></draw:frame></text:p>"
    '<text:list text:style-name="L1"><text:list-item><text:p>one</text:p><text:list><text:list-item '
    'text:start-value="4"><text:p>inner</text:p></text:list-item></text:list></text:list-item></text:list>'
    '<table:table><table:table-header-rows><table:table-row><table:table-cell table:number-columns-spanned="2">'
    "<text:p>H</text:p></table:table-cell><table:covered-table-cell/></table:table-row></table:table-header-rows>"
    "<table:table-row><table:table-cell><text:p>a</text:p><table:table><table:table-row><table:table-cell>"
    "<text:p>inner</text:p></table:table-cell></table:table-row></table:table></table:table-cell>"
    "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table><text:p><draw:frame>"
    '<draw:object xlink:href="./Object 1"/></draw:frame></text:p>'
)
_SHEET: Final = (
    '<table:table table:name="Ledger" table:style-name="ta1"><table:table-column '
    'table:number-columns-repeated="2"/><table:table-column table:visibility="collapse"/><table:table-row '
    'table:number-rows-repeated="3"><table:table-cell office:value-type="percentage" office:value="0.6229">'
    '<text:p>62%</text:p></table:table-cell><table:table-cell office:value-type="date" '
    'office:date-value="2024-05-01"><text:p>1.5.</text:p></table:table-cell><table:table-cell '
    'table:number-columns-repeated="2" office:value-type="time" office:time-value="PT26H30M05S"/>'
    '</table:table-row><table:table-row table:visibility="filter"><table:table-cell '
    'table:number-columns-repeated="16380"/><table:table-cell table:formula="of:=SUM([.A1:.B1])"/>'
    '<table:covered-table-cell/></table:table-row><table:table-row table:number-rows-repeated="1048570">'
    '<table:table-cell/></table:table-row><table:table-row><table:table-cell office:value-type="string">'
    "<office:annotation><dc:creator>Ann</dc:creator><text:p>remark</text:p></office:annotation><text:p>"
    "one</text:p><text:p>two</text:p></table:table-cell></table:table-row><table:shapes><draw:frame>"
    "<draw:text-box><text:p>box</text:p></draw:text-box></draw:frame></table:shapes></table:table>"
)
_SLIDE: Final = (
    '<draw:page draw:name="p1" draw:style-name="dp1"><draw:frame presentation:class="outline"><draw:text-box>'
    '<text:list text:style-name="L1"><text:list-item><text:p>point</text:p></text:list-item></text:list>'
    '</draw:text-box></draw:frame><draw:frame presentation:class="title"><draw:text-box><text:p>Title</text:p>'
    "</draw:text-box></draw:frame><draw:g><draw:custom-shape><text:p>grouped</text:p></draw:custom-shape>"
    "</draw:g><office:annotation><dc:creator>Ann</dc:creator><text:p>remark</text:p></office:annotation>"
    "<presentation:notes><draw:frame><draw:text-box><text:p>a note</text:p></draw:text-box></draw:frame>"
    "</presentation:notes></draw:page>"
)
_STYLES: Final = (
    BULLETS + '<style:style style:name="ta1" style:family="table"><style:table-properties table:display="false"/>'
    '</style:style><style:style style:name="dp1" style:family="drawing-page"><style:drawing-page-properties '
    'presentation:visibility="hidden"/></style:style>'
)
_PRINTED: Final = (
    '<style:master-page style:name="m"><style:header><text:p>head</text:p></style:header><style:footer><text:p>foot'
    "</text:p></style:footer></style:master-page>"
)


def documents() -> dict[str, list[bytes]]:
    """The documents by format; the same bytes each time."""
    chart = content("chart", "<chart:chart><chart:title><text:p>Sales</text:p></chart:title></chart:chart>")
    objects = {"Object 1__content_DOT_xml": chart}
    return {
        ".md": [_MARKDOWN.encode()],
        ".json": [_JSON.encode()],
        ".xml": [_XML.encode("latin-1"), _BOOK.encode()],
        ".csv": [_VALUES.encode("cp1252"), _VALUES.replace(";", ",").encode("utf-16"), b"a\tb\tc\n1\t2\t3\n" * 9],
        ".html": [_PAGE.encode(), b'<?xml version="1.0"?>' + _PAGE.replace("<script>", "<![CDATA[").encode()],
        ".rtf": [_RTF],
        ".odt": [
            package("text", _TEXT_BODY, _STYLES, _PRINTED, **objects),
            content("text", _TEXT_BODY, _STYLES, root="document").encode(),
        ],
        ".ods": [
            package("spreadsheet", _SHEET * 2, _STYLES, _PRINTED),
            content("spreadsheet", _SHEET, _STYLES, root="document").encode(),
        ],
        ".odp": [package("presentation", _SLIDE * 2, _STYLES, _PRINTED, **objects)],
        ".xls": [ole.Compound(_WORKBOOK.read_bytes()).stream("Workbook")],  # whose records no sector cuts
        ".png": [_picture("PNG", "RGBA"), _picture("PNG", "P"), _picture("JPEG", "RGB"), _pages()],
    }


def _drawn(mode: str) -> Image.Image:
    picture = Image.new("L", (120, 40), 255)
    ImageDraw.Draw(picture).text((5, 12), "A lease of 2024")
    return picture.convert(mode)


def _picture(kind: str, mode: str) -> bytes:
    file = BytesIO()
    _drawn(mode).save(file, kind, dpi=(96, 96))
    return file.getvalue()


def _pages() -> bytes:
    file = BytesIO()
    _drawn("1").save(file, "TIFF", save_all=True, append_images=[_drawn("L"), _drawn("CMYK")], compression="packbits")
    return file.getvalue()
