"""What of WordprocessingML matters to its words: one pattern over the tags, and some that look closer.

All take the form that `canonical` gives, and are linear in the bytes that they look at.
"""

import re
from typing import Final

from tasks.documents.extract.ooxml.xml import ATTRIBUTES

TAGS: Final = re.compile(
    rb"""<(?:
        w:(?:
            t(?:(?:>|\sxml:space="preserve">|(?=\s)%b(?<!/)>)(?P<text>[^<]*+)
                (?:</w:t></w:r>(?:</w:p>(?P<last>)(?:<w:p(?=[\s/>]))?+)?+)?+  # what mostly follows, in the same step
              | ab\s*+/?>(?P<tab>)  # with attributes it is a tab stop
              | c(?:(?=[\s/>])(?P<cell>) | PrChange(?=[\s>])(?P<tcPrChange>))
              | r(?:(?=[\s>])(?P<row>) | PrChange(?=[\s>])(?P<trPrChange>))
              | bl(?:(?=[\s>])(?P<table>) | Header(?=[\s/>])(?P<repeated>))
              | xbxContent(?=[\s>])(?P<box>))
          | p(?:(?=[\s>])(?P<paragraph>)
              | Style\s(?:[^<]*?\s)??w:val\s*+=\s*+["'](?P<style>[^"'<]*+)
              | tab(?=[\s/>])(?P<ptab>)
              | PrChange(?=[\s>])(?P<pPrChange>))
          | n(?:umPr(?=[\s>])%b(?<!/)>(?P<number>[^<]*+(?:</?w:(?:ilvl|numId)[\s>][^<]*+)*+)
              | oBreakHyphen(?=[\s/>])(?P<hyphen>))
          | grid(?:Span | Before)(?=[\s/>])(?P<columns>)
          | br(?=[\s/>])(?P<br>)
          | c(?:r(?=[\s/>])(?P<cr>) | ommentReference(?=[\s/>])(?P<comments>)
              | heckBox(?=[\s>])(?P<checkbox>))
          | outlineLvl(?=[\s/>])(?P<level>)
          | sym(?=[\s/>])(?P<symbol>)
          | del(?=[\s>])(?P<del>)
          | ins(?=[\s>])(?P<ins>)
          | move(?:From(?=[\s>])(?P<moveFrom>) | To(?=[\s>])(?P<moveTo>))
          | footnoteReference(?=[\s/>])(?P<footnotes>)
          | endnoteReference(?=[\s/>])(?P<endnotes>)
          | altChunk(?=[\s/>])(?P<chunk>)
        )
      | /w:(?:p\s*+>(?P<paragraph_end>)(?:<w:p(?=[\s/>]))?+
              | t(?:c\s*+>(?P<cell_end>) | r\s*+>(?P<row_end>) | bl\s*+>(?P<table_end>)
                  | xbxContent\s*+>(?P<box_end>))
              | ins\s*+>(?P<ins_end>)
              | moveTo\s*+>(?P<moveTo_end>))
      | a:(?:t(?:>|\s[^<>]*+(?<!/)>)(?P<drawn>[^<]*+)
           | p(?=[\s>])(?P<drawn_paragraph>)
           | br(?=[\s/>])(?P<drawn_br>))
      | /a:p\s*+>(?P<drawn_end>)
      | wp:docPr(?=\s)(?P<picture>)
      | pic:cNvPr(?=[\s/>])(?P<inner_picture>)
      | m:oMath(?=[\s>])(?P<formula>)
      | c(?:x:|:)chart(?=[\s/>])(?P<chart>)
      | dgm:relIds(?=[\s/>])(?P<diagram>)
      | v:(?:textpath(?=[\s/>])(?P<textpath>) | (?:shape|rect|group)(?=[\s/>])(?P<shape>))
    )"""
    % (ATTRIBUTES, ATTRIBUTES),
    re.VERBOSE,
)
"""The branches begin with different letters, so that most tags are passed over at the first or second."""

LEFT_OUT: Final = {
    name: re.compile(rb"<(/?)w:%b(?=[\s/>])(%b/?)>" % (name.encode(), ATTRIBUTES))
    for name in ("del", "moveFrom", "pPrChange", "tcPrChange", "trPrChange")
}
DELETED_WORDS: Final = re.compile(rb"<w:(?:delText|t)(?:\s[^<>]*+)?>[^<]")
FORMULA_END: Final = re.compile(rb"</m:oMath\s*+>|(?=</?[wa]:p[\s>])")
