"""Two names mean one company only when they are the same but for form; long lists of names are cut."""

from tasks.language.normalise import join_first, same_name
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


@cases(("most", "joined"), [(1, "Lease and 2 more"), (2, "Lease, Deed and 1 more"), (3, "Lease, Deed, Will")])
def test_of_many_names_the_first_are_told_and_the_others_counted(most: int, joined: str) -> None:
    assert join_first(["Lease", "Deed", "Will"], most) == joined
