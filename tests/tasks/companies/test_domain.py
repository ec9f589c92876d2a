"""A domain names a company only if it is the registrable one; the message says which one to send."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.companies.profile import registrable
from tasks.companies.web.transport import registrable_domain
from tasks.errors import BadRequest
from tests.cases import cases


@cases(
    ("domain", "plain"),
    [
        ("example.com", "example.com"),
        ("alpha.example", "alpha.example"),  # an ending that no registry has
        ("example.co.uk", "example.co.uk"),
        ("EXAMPLE.Com", "example.com"),
        ("example.com.", "example.com"),
        ("  example.com\n", "example.com"),
        ("1and1.com", "1and1.com"),
        ("3m.com", "3m.com"),
        ("a-b.co.jp", "a-b.co.jp"),
        ("github.io", "github.io"),  # a suffix in the list's private part only
        ("www.ck", "www.ck"),  # an exception to the rule *.ck
        ("müller.example", "xn--mller-kva.example"),
        ("MÜLLER.example", "xn--mller-kva.example"),
        ("mu\u0308ller.example", "xn--mller-kva.example"),
        ("xn--mller-kva.example", "xn--mller-kva.example"),
        ("XN--MLLER-KVA.EXAMPLE", "xn--mller-kva.example"),
        ("straße.de", "xn--strae-oqa.de"),
        ("食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("example。com", "example.com"),
    ],
)
def test_a_registrable_domain_is_put_into_its_plain_form(domain: str, plain: str) -> None:
    assert registrable(domain) == plain


@cases(
    ("domain", "surplus"),
    [
        ("https://example.co.uk", "a scheme"),
        ("HTTP://example.co.uk", "a scheme"),
        ("//example.co.uk", "slashes"),
        ("www.example.co.uk", "a subdomain"),
        ("a.b.c.example.co.uk", "a subdomain"),
        ("example.co.uk/", "a path"),
        ("example.co.uk/about/us", "a path"),
        ("example.co.uk:443", "a port"),
        ("example.co.uk:", "a port"),
        ("info@example.co.uk", "a user name"),
        ("mailto:info@example.co.uk", "a user name"),
        ("example.co.uk?utm=1", "parameters"),
        ("example.co.uk#top", "a fragment"),
        (
            "https://user:pass@www.example.co.uk:8443/a/b.html?c=d#e",
            "a subdomain, a scheme, a user name, a port, a path",
        ),
        ("https:\\\\example.co.uk\\x", "a path"),
    ],
)
def test_anything_around_it_is_refused_with_the_domain_to_send(domain: str, surplus: str) -> None:
    with pytest.raises(BadRequest) as refused:
        registrable(domain)

    assert surplus in refused.value.message
    assert "send example.co.uk instead" in refused.value.message
    assert list(refused.value.fields) == ["domain"]


def test_a_host_below_a_private_suffix_belongs_to_the_suffix() -> None:
    with pytest.raises(BadRequest, match=r"send github\.io instead"):
        registrable("alice.github.io")


def test_a_name_and_a_password_are_not_repeated() -> None:
    with pytest.raises(BadRequest) as refused:
        registrable("https://admin:hunter2@example.com/secret?token=abc")

    assert not any(word in str(refused.value) for word in ("admin", "hunter2", "secret", "abc"))


@cases("domain", ["co.uk", "com", "example", "localhost", "公司.cn", "foo.ck"])
def test_an_ending_without_a_name_is_refused(domain: str) -> None:
    with pytest.raises(BadRequest, match="an ending that companies register under"):
        registrable(domain)


@cases(
    "domain",
    ["127.0.0.1", "::1", "[::1]", "http://[2001:db8::1]:80/", "http://10.0.0.1/x", "127.1", "0x7f.1", "2130706433"],
)
def test_an_address_is_refused(domain: str) -> None:
    with pytest.raises(BadRequest, match="an IP address"):
        registrable(domain)


@pytest.mark.parametrize("domain", ["", " ", "\t\n"])
def test_a_blank_is_refused(domain: str) -> None:
    with pytest.raises(BadRequest, match="is blank"):
        registrable(domain)


@cases(
    "domain",
    [
        "a_b.com",
        "-a.com",
        "a-.com",
        "a..com",
        ".example.com",
        "example.com..",
        ".",
        "..",
        "../../etc/passwd",
        "..\\..\\secret",
        "exa mple.com",
        "exam\nple.com",
        "exam\0ple.com",
        "%2e%2e.com",
        "xn--a.com",
        f"{'x' * 64}.com",
        "a." * 130 + "com",
        "x" * 100_000,
        "http://",
        "\ud800.com",
    ],
)
def test_what_is_no_domain_name_is_refused(domain: str) -> None:
    with pytest.raises(BadRequest):
        registrable(domain)


def test_the_error_is_filed_under_the_name_that_the_caller_uses() -> None:
    with pytest.raises(BadRequest, match='"company_domain" holds a subdomain') as refused:
        registrable("www.example.com", field="company_domain")

    assert list(refused.value.fields) == ["company_domain"]


@given(st.text(max_size=80))
def test_whatever_is_given_the_outcome_is_a_plain_name_or_a_refusal(text: str) -> None:
    try:
        domain = registrable(text)
    except BadRequest:
        return
    assert registrable(domain) == domain
    assert domain.isascii()
    assert not set(domain) - set("abcdefghijklmnopqrstuvwxyz0123456789-.")


@cases(
    ("url", "domain"),
    [
        ("https://a.b.alpha.co.uk/x", "alpha.co.uk"),
        ("https://alpha.example:8443/", "alpha.example"),
        ("http://127.0.0.1/", None),
        ("http://[::1]/", None),
        ("http://localhost/", None),
        ("ftp://alpha.example/", None),
        ("http://[", None),
    ],
)
def test_an_address_lies_on_its_registrable_domain(url: str, domain: str | None) -> None:
    assert registrable_domain(url) == domain
