"""Plain text in any encoding."""

from pathlib import Path

from tasks.reading import txt
from tests.cases import cases

FRENCH = "Bail commercial : le locataire versera 1250 € à l’échéance.\nŒuvre, naïf, Noël, façade, señor.\n" * 12
JAPANESE = "本契約は、甲と乙との間において締結される。賃料は毎月末日までに支払うものとする。\n" * 12
RUSSIAN = "Настоящий договор аренды заключён между сторонами. Арендатор обязуется внести плату.\n" * 12
POLISH = "Umowa najmu została zawarta między stronami. Najemca płaci czynsz. Źdźbło, łódź, śnieg.\n" * 12
CZECH = "Nájemní smlouva byla uzavřena mezi stranami. Nájemce zaplatí nájemné do konce měsíce. Žluťoučký kůň.\n" * 12


@cases(
    ("text", "encoding", "mark"),
    [
        (FRENCH, "utf-8", b""), (FRENCH, "utf-8", b"\xef\xbb\xbf"), (JAPANESE, "utf-16-le", b"\xff\xfe"),
        (RUSSIAN, "utf-16-be", b"\xfe\xff"), (FRENCH, "utf-16-le", b""), (FRENCH, "utf-16-be", b""),
        (FRENCH, "utf-32-le", b"\xff\xfe\0\0"), (FRENCH, "utf-32-be", b"\0\0\xfe\xff"), (FRENCH, "utf-32-le", b""),
        (FRENCH, "cp1252", b""), (FRENCH, "mac-roman", b""), (POLISH, "cp1250", b""), (CZECH, "cp1250", b""),
        (JAPANESE, "cp932", b""), (JAPANESE, "euc-jp", b""), (JAPANESE, "iso2022_jp", b""), (RUSSIAN, "cp1251", b""),
        (RUSSIAN, "koi8-r", b""), ("plain line of the index\n" * 40_000 + FRENCH, "cp1252", b""),
    ],
)  # fmt: skip
def test_the_encoding_is_found(tmp_path: Path, text: str, encoding: str, mark: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(mark + text.encode(encoding))
    assert txt.read(path).text == text


def test_an_empty_file_is_an_empty_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.touch()
    assert txt.read(path).text == ""
    assert txt.read(path).warnings == []


def test_line_ends_become_one_kind_and_nuls_spaces(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\rthree\0 and\x0c four")
    assert txt.read(path).text == "one\ntwo\nthree  and\n four"


def test_a_guessed_encoding_is_said_to_be_guessed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(FRENCH.encode("cp1252"))
    assert "encoded" in txt.read(path).warnings[0]


def test_bytes_of_no_encoding_still_give_a_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(bytes(range(1, 256)) * 50)
    txt.read(path).text.encode("utf-8")


@cases(
    ("data", "text"),
    [
        (b"a\r\nb\r\nc", "a\nb\nc"),
        (b"a\rb\rc", "a\nb\nc"),
        (b"a\r\nb\nc\rd\r\r\ne\n\rf", "a\nb\nc\nd\n\ne\n\nf"),
        (b"a\r\nb\r\nc\r", "a\nb\nc\n"),
        (b"a\r\nb\r\nc\n", "a\nb\nc\n"),
        (b"a\x0cb\r\n\x0cc\r\nd", "a\nb\n\nc\nd"),
    ],
)
def test_line_ends_of_every_mixture_become_one_kind(data: bytes, text: str) -> None:
    assert txt.read(data).text == text
    assert txt.read(b"\xff\xfe" + data.decode().encode("utf-16-le")).text == text


@cases("control", [*range(32), 127])
def test_no_control_is_left_wherever_it_stands(control: int) -> None:
    plain = "A line of the report.\n" * 900
    instead = {0: " ", 9: "\t", 10: "\n", 11: "\n", 12: "\n", 13: "\n", 28: "\n", 29: "\n", 30: "\n"}.get(control, "")
    for start in (0, 1, len(plain) // 2, len(plain) - 1, len(plain)):
        mixed = plain[:start] + chr(control) + plain[start:]
        expected = plain[:start] + instead + plain[start:]
        if chr(control) == "\r":
            expected = mixed.replace("\r\n", "\n").replace("\r", "\n")
        assert txt.read(mixed.encode()).text == expected
        assert txt.read((mixed + "é").encode()).text == expected + "é"
