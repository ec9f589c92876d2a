"""Two names mean one company only when they are the same but for form."""

from tasks.language.normalise import same_name
from tests.cases import cases


@cases(
    ("asked", "known"),
    [
        ("Alpha", "Alpha"),
        ("ALPHA  Systems", "Alpha Systems"),
        ("Alpha", "Alpha GmbH"),
        ("Fjordvarm", "Fjordvarm A/S"),
        ("Beta", "Beta S.p.A."),
        ("Kessler Prüftechnik", "Kessler Pru\u0308ftechnik GmbH & Co. KG"),
        ("Alpha, Inc.", "Alpha Inc"),
        ("株式会社アルファ", "株式会社アルファ"),
    ],
)
def test_the_same_name_is_known_again(asked: str, known: str) -> None:
    assert same_name(asked, known)


@cases(
    ("asked", "known"),
    [
        ("Alpha", "Alpha Industries"),
        ("Alpha AG", "Alpha GmbH"),
        ("Alpha GmbH", "Alpha"),
        ("Alph", "Alpha"),
        ("AG", "Alpha AG"),
        ("", "AG"),
        ("", ""),
        ("&", "-"),
    ],
)
def test_nothing_is_guessed(asked: str, known: str) -> None:
    assert not same_name(asked, known)
