"""The window: what servers say about it, and what their counts give away."""

from tasks.ai.openai.errors import fewest, read_window, was_cut
from tests.cases import cases

PROSE = (
    "The Company shall provide the services in accordance with the terms of this agreement and its schedules. " * 200
)
GERMAN = "Die Gesellschaft erbringt die vereinbarten Dienstleistungen nach Maßgabe dieses Vertrages. " * 200
JAPANESE = "当社は本契約の定めに従い、本件業務を誠実に遂行するものとします。" * 200
TABLE = "2023\t12,300\t45.7\t8,812\t(1,204)\n" * 600
SPACES = ("Total" + " " * 76 + "1,204\n") * 300
RULES = "=" * 40_000


@cases(
    ("text", "tokens"),  # as cl100k or o200k counts them, whichever is fewer
    [(PROSE, 3600), (GERMAN, 3800), (JAPANESE, 4600), (TABLE, 10_200), (SPACES, 1800), (RULES, 600)],
)
def test_texts_of_all_kinds_are_not_taken_for_cut(text: str, tokens: int) -> None:
    assert fewest(text) <= tokens
    assert not was_cut(text, tokens)


@cases("text", [PROSE * 3, GERMAN * 4, TABLE * 2])
def test_a_count_at_a_common_window_gives_the_cut_away(text: str) -> None:
    assert was_cut(text, 4096)


@cases("text", [PROSE, GERMAN, TABLE * 2])
def test_a_server_that_counts_roughly_is_believed(text: str) -> None:
    assert not was_cut(text, len(text) // 4)
    assert not was_cut(text, len(text.split()))


def test_a_count_at_a_common_window_gives_even_a_small_cut_away() -> None:
    text = PROSE + PROSE[: len(PROSE) // 3]  # 4,800 tokens
    assert was_cut(text, 4096)
    assert not was_cut(text, 4800)
    assert not was_cut(text[: len(text) * 4096 // 4800], 4096)


def test_a_count_near_the_known_window_gives_the_cut_away() -> None:
    text = PROSE * 2
    assert not was_cut(text, 6000)
    assert was_cut(text, 6000, window=6000)
    assert not was_cut(PROSE[:9000], 6000, window=6000)


@cases("counted", [0, 1, 10, 100, 1000])
def test_an_odd_count_of_a_middling_prompt_is_only_odd(counted: int) -> None:
    assert not was_cut(PROSE[:15_000], counted)


def test_a_tiny_count_of_a_long_prompt_is_a_cut() -> None:
    assert was_cut(PROSE * 3, 100)


@cases(
    ("message", "window"),
    [
        ("This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.", 4096),
        ("request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096),
        ('{"code":400,"message":"too long","n_prompt_tokens":5000,"n_ctx":4096}', 4096),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
        ("`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 12000 `inputs` tokens", 8193),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768),
        ("the model is loaded with context length of only 4096 tokens", 4096),
        ("Requested input length 40000 exceeds maximum input length 32767", 32_767),
        ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096),
        ("maximum context length is 128,000 tokens", 128_000),
        ("Your input exceeds the context window of this model. Please adjust your input and try again.", None),
        ("maximum context length is 3 tokens", None),
    ],
)
def test_the_window_is_read_from_what_servers_say(message: str, window: int | None) -> None:
    assert read_window(message.lower()) == window
