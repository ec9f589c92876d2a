"""Forms that a PDF describes in XML instead of drawing them."""

from tasks.reading.pdf import reader
from tests.tasks.reading.pdf import pdfs

TEMPLATE = b"""<template xmlns="http://www.xfa.org/schema/xfa-template/3.3/"><subform name="form1">
<draw><value><text>Statement of assets</text></value></draw>
<draw presence="hidden"><value><text>Not shown</text></value></draw>
<field name="owner"><caption><value><text>Owner of the company</text></value></caption></field>
<draw><value><exData contentType="text/html"><body xmlns="http://www.w3.org/1999/xhtml"><p>Sign <b>here</b></p></body>
</exData></value></draw></subform></template>"""
DATA = b"""<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form1><owner>Ada Alpha</owner>
<empty/><shares><number>120</number></shares></form1></xfa:data></xfa:datasets>"""


def form(*packets: tuple[bytes, bytes]) -> bytes:
    """A PDF whose form is described by these packets, each a name and its XML."""
    names = b" ".join(b"(%s) %d 0 R" % (name, number) for number, (name, _) in enumerate(packets, 6))
    catalog = b"/NeedsRendering true /AcroForm << /Fields [] /XFA [%s] >>" % names
    return pdfs.pdf(pdfs.one_page(b"Please wait", *(pdfs.stream(xml) for _, xml in packets), catalog=catalog))


def test_the_form_s_words_and_values_are_read() -> None:
    text = reader.read(form((b"template", TEMPLATE), (b"datasets", DATA))).text
    assert text == "Please wait\nStatement of assets\nOwner of the company\nSign here\nowner: Ada Alpha\nnumber: 120\n"


def test_entities_are_not_expanded_and_broken_xml_is_left_out() -> None:
    bomb = b'<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/hostname">]>'
    evil = bomb + TEMPLATE.replace(b"Statement", b"&b;&c;Statement")
    text = reader.read(form((b"template", evil), (b"datasets", b"<<<"))).text
    assert "Statement of assets" in text
    assert "aaaa" not in text
