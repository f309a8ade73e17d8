from __future__ import annotations

from collections.abc import Sequence

import pytest

from agent.predictors.embedding import Embedder, Vectors
from agent.predictors.ranker import LinkRanker, RankedLink, label_of
from browser.observation import Link

MENU = (
    "Installation", "Tutorial", "Full Text Search", "Client Authentication", "Backup and Restore", "Release Notes",
    "Error Codes", "Limits", "Opening hours", "auth_delay", "图书馆", "研究项目",
)  # fmt: skip


def links(*texts: str, context: str = "") -> tuple[Link, ...]:
    return tuple(
        Link(number=number, text=text, url=f"http://site.test/{number}", context=context)
        for number, text in enumerate(texts, 1)
    )


def names(ranked: tuple[RankedLink, ...]) -> list[str]:
    return [each.link.text for each in ranked]


async def test_ranks_by_meaning_by_identifier_and_in_chinese() -> None:
    ranker = LinkRanker(Embedder())

    for question, expected in {
        "At what time does the library close?": "Opening hours",
        "How do I dump a database and load it again?": "Backup and Restore",
        "Who wrote the auth_delay module?": "auth_delay",
        "图书馆几点开门？": "图书馆",
    }.items():
        assert names(await ranker.rank(question, links(*MENU)))[0] == expected


async def test_context_tells_equal_texts_apart() -> None:
    one = Link(number=1, text="Read more", url="http://site.test/a", context="Cheese › Read more")
    two = Link(number=2, text="Read more", url="http://site.test/b", context="Concurrency and deadlocks › Read more")

    ranked = await LinkRanker(Embedder()).rank("How are deadlocks detected?", [one, two])

    assert ranked[0].link is two


async def test_what_stands_around_links_with_one_text_is_their_name() -> None:
    one = Link(number=1, text="查看更多", url="http://site.test/1", context="商法本科专业 › 查看更多")
    two = Link(number=2, text="查看更多", url="http://site.test/2", context="机械工程本科专业 › 查看更多")
    menu = links("机械", "新闻动态")

    ranked = await LinkRanker(Embedder()).rank("机械工程本科专业的负责人是谁？", [*menu, one, two])

    assert ranked[0].link is two


async def test_of_several_subjects_a_name_mentioned_whole_comes_before_one_that_shares_as_many_words() -> None:
    question = "Who heads the Press Office, and when did the School of Education welcome visitors from abroad?"
    shares = links("School Concert, Garden and Bakery: Friends from Abroad", "Press Office", "Library")

    ranked = await LinkRanker(Embedder()).quick(question, shares)

    assert names(ranked)[0] == "Press Office"


async def test_what_a_page_says_its_link_is_leads_to_what_a_question_cannot_name() -> None:
    question = "Where was the composer of the opera The Glass Garden born?"
    facts = [
        Link(number=number, text=text, url=f"http://site.test/{number}", context=f"The Glass Garden › {label}{text}")
        for number, (label, text) in enumerate(
            [("Librettist: ", "Ada Fenn"), ("Composer: ", "Otto Brandt"), ("", "The Glass Harp"), ("Town: ", "Holm")], 1
        )
    ]

    ranked = await LinkRanker(Embedder()).rank(question, facts)

    assert names(ranked)[0] == "Otto Brandt"


@pytest.mark.parametrize(
    ("context", "label"),
    [
        ("Tides › Author: Ann", "Author"),
        ("Author: Ann", "Author"),
        ("Tides › Author | Ann", "Author"),
        ("Tides › Published: 1901. First editor: Ann", "First editor"),
        ("Tides › Tides | Ann | 1901", ""),
        ("Tides › It was written by Ann", ""),
        ("Author: Tides › Ann", ""),
        ("Author: somebody else", ""),
        ("", ""),
    ],
)
def test_a_label_stands_before_its_link(context: str, label: str) -> None:
    assert label_of(Link(number=1, text="Ann", url="http://site.test/", context=context)) == label


async def test_a_chinese_question_is_ranked_by_words_alone() -> None:
    class English(Embedder):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError("the model was asked")

    assert names(await LinkRanker(English()).rank("图书馆几点开门？", links(*MENU)))[0] == "图书馆"


async def test_equal_links_stay_in_page_order() -> None:
    same = links("More", "More", "More")

    ranked = await LinkRanker(Embedder()).rank("Anything?", [Link(number=9, text="More", url=same[0].url), *same])

    assert [each.link.number for each in ranked if each.score == ranked[0].score][:1] == [9]


async def test_a_score_does_not_depend_on_what_was_ranked_before() -> None:
    fresh = await LinkRanker(Embedder()).scores("Where are the limits?", links(*MENU))
    used = LinkRanker(Embedder())
    await used.scores("Where are the limits?", links("Limits", "Another page of the site"))

    assert await used.scores("Where are the limits?", links(*MENU)) == fresh


async def test_an_index_with_thousands_of_links_still_finds_the_name() -> None:
    index = links(*(f"term {number}" for number in range(3000)), "wal_sender_timeout")

    ranked = await LinkRanker(Embedder()).rank("What is the default of wal_sender_timeout?", index)

    assert ranked[0].link.text == "wal_sender_timeout"
    assert len(ranked) == 3001


async def test_no_links() -> None:
    assert await LinkRanker(Embedder()).rank("Anything?", []) == ()
