"""Texts in memory: bounded, the least used first to go."""

from concurrent.futures import ThreadPoolExecutor

from tasks.documents.texts import RecentTexts

KILOBYTE = "x" * 1000  # and some bytes more in memory


def test_a_text_is_there_again() -> None:
    texts = RecentTexts(100_000)
    texts.put("a", "words")
    assert texts.get("a") == "words"
    assert texts.get("b") is None


def test_an_empty_text_is_a_text() -> None:
    texts = RecentTexts(100_000)
    texts.put("a", "")
    assert texts.get("a") == ""


def test_the_one_unused_for_longest_goes_first() -> None:
    texts = RecentTexts(10_000)
    for key in range(9):
        texts.put(key, KILOBYTE)
    assert texts.get(0)
    texts.put("new", KILOBYTE)
    assert (texts.get(0), texts.get(1), texts.get("new")) == (KILOBYTE, None, KILOBYTE)


def test_a_large_text_does_not_push_out_the_others() -> None:
    texts = RecentTexts(10_000)
    texts.put("small", KILOBYTE)
    texts.put("large", KILOBYTE * 2)
    assert (texts.get("small"), texts.get("large")) == (KILOBYTE, None)


def test_texts_outside_latin_count_by_what_they_take() -> None:
    texts = RecentTexts(10_000)
    texts.put("emoji", "🙂" * 500)  # four bytes each
    assert texts.get("emoji") is None


def test_many_threads_at_once_stay_within_the_bound() -> None:
    texts = RecentTexts(20_000)

    def work(thread: int) -> None:
        for turn in range(500):
            texts.put((thread, turn % 20), KILOBYTE)
            texts.get((thread, turn % 7))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert sum(len(texts.get((thread, turn)) or "") for thread in range(8) for turn in range(20)) <= 20_000
