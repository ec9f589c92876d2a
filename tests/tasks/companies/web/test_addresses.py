"""Which addresses may be fetched: the spellings, the networks, and what a setting allows."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.companies.web.transport import Address, Allowed, is_public
from tasks.errors import NotAllowed
from tests.cases import cases


@cases(
    ("given", "plain"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://Example.COM:443/A", "https://example.com/A"),
        ("http://example.com./", "http://example.com/"),
        ("https://bücher.example/straße?q=ä#part", "https://xn--bcher-kva.example/stra%C3%9Fe?q=%C3%A4"),
        ("http://example.com:8080/a b", "http://example.com:8080/a%20b"),
        ("http://example.com/?flag&a=b+c%20d&&", "http://example.com/?flag&a=b+c%20d&&"),
        ("http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"),
        ("https://foo_bar.example.com/../up", "https://foo_bar.example.com/up"),
        ("http://93.184.216.34/", "http://93.184.216.34/"),
    ],
)
def test_an_address_is_put_into_its_plain_form(given: str, plain: str) -> None:
    assert str(Address.parse(given)) == plain


def test_parameters_join_the_query() -> None:
    address = Address.parse("https://example.com/api?v=1", {"filter[name]": "A & B", "q": "ä"})
    assert address.target == "/api?v=1&filter%5Bname%5D=A+%26+B&q=%C3%A4"


@cases(
    "given",
    [
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:25/",
        "javascript:alert(1)",
        "//example.com/",
        "example.com",
        "",
        "http://",
        "http:///path",
        "http://user@example.com/",
        "http://user:secret@example.com/",
        "http://evil.example\\@127.0.0.1/",
        "http://exa mple.com/",
        "http://exa\nmple.com/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://a..b/",
        "http://-a.example/",
        "http://[::1",
        "http://[fe80::1%25eth0]/",
        "https://example.com/" + "a" * 5000,
    ],
)
def test_what_is_no_plain_web_address_is_refused(given: str) -> None:
    with pytest.raises(NotAllowed):
        Address.parse(given)


@cases(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "017700000001",
        "1.2.3.4.5",
        "256.1.1.1",
    ],
)
def test_an_ip_address_in_an_odd_spelling_is_refused(host: str) -> None:
    with pytest.raises(NotAllowed):
        Address.parse(f"http://{host}/")


def test_figures_of_other_scripts_are_the_ip_address_that_they_spell_or_nothing() -> None:
    assert Address.parse("http://127。0。0。1/").host == "127.0.0.1"
    with pytest.raises(NotAllowed):
        Address.parse("http://①②⑦.⓪.⓪.①/")


@cases(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
    ],
)
def test_an_address_that_the_internet_does_not_reach_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))
    assert Allowed().refusal("example.com", address, 443)


@cases(
    "address",
    [
        "93.184.216.34",
        "8.8.8.8",
        "172.32.0.1",
        "100.128.0.1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2606:2800:220:1::1",
    ],
)
def test_an_address_that_the_internet_reaches_is_public(address: str) -> None:
    assert is_public(ip_address(address))
    assert Allowed().refusal("example.com", address, 443) is None


def test_a_public_page_lies_on_a_port_of_the_web() -> None:
    assert Allowed().refusal("example.com", "8.8.8.8", 80) is None
    assert "port" in (Allowed().refusal("example.com", "8.8.8.8", 22) or "")
    assert Allowed.parse(["8.8.8.8"]).refusal("example.com", "8.8.8.8", 22) is None


@cases(
    ("allowed", "host", "address", "reached"),
    [
        ("10.1.2.3", "intranet.example", "10.1.2.3", True),
        ("10.1.2.3", "intranet.example", "10.1.2.4", False),
        ("10.0.0.0/8", "intranet.example", "10.200.0.1", True),
        ("10.0.0.0/8", "intranet.example", "::ffff:10.200.0.1", True),
        ("10.0.0.0/8", "intranet.example", "11.0.0.1", True),
        ("10.0.0.0/8", "intranet.example", "192.168.0.1", False),
        ("Intranet.Example.", "intranet.example", "192.168.0.1", True),
        ("intranet.example", "other.intranet.example", "192.168.0.1", False),
        ("intranet.example", "intranet.example.evil.test", "192.168.0.1", False),
        ("127.0.0.1", "localhost", "::1", True),
        ("[fd00::]/8", "intranet.example", "fd12::1", False),
        ("fd00::/8", "intranet.example", "fd12::1", True),
    ],
)
def test_what_a_setting_names_may_be_private(allowed: str, host: str, address: str, reached: bool) -> None:
    if "]" in allowed:
        with pytest.raises(ValueError, match="is not a host"):
            Allowed.parse([allowed])
        return
    assert (
        Allowed.parse([allowed]).refusal(host, address, 8080 if not address.startswith("11.") else 80) is None
    ) is reached


@cases("wrong", ["10.0.0.0/33", "1.2.3", "http://example.com", "a b", "*.example.com", "example.com:80"])
def test_what_is_no_host_or_network_is_refused_by_name(wrong: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        Allowed.parse([wrong])


@given(st.one_of(st.text(max_size=60), st.from_regex(r"https?://[^/]{0,40}(:[0-9]{1,6})?/.{0,10}", fullmatch=True)))
def test_whatever_is_taken_is_taken_apart_the_same_way_again(given: str) -> None:
    try:
        address = Address.parse(given)
    except NotAllowed:
        return
    assert Address.parse(str(address)) == address
    assert not set(address.host) & set(" \t\r\n/\\@#?%")
    assert address.target.startswith("/")
    assert not set(address.target) & set(" \t\r\n#")


def test_a_redirect_is_judged_like_any_address() -> None:
    here = Address.parse("https://example.com/a/b?q=1")
    assert str(here.join("../c")) == "https://example.com/c"
    assert str(here.join("//other.example/x")) == "https://other.example/x"
    for wrong in ("file:///etc/passwd", "http://u@example.com/", "http://0x7f.1/", "http://[", "x" * 5000):
        with pytest.raises(NotAllowed):
            here.join(wrong)
