from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from evals.site import Question, Site, build_site
from evals.site.page import Block, Definitions, Heading, Inline, Link, Listing, Paragraph, Table
from evals.site.traps import is_trap
from evals.site.words import load_structure, load_words, style


@pytest.fixture(scope="module")
def site() -> Site:
    return build_site()


def text_of(site: Site, path: str) -> str:
    return "\n".join(line for block in site.pages[path].blocks for line in lines_of(block))


def lines_of(block: Block) -> Iterator[str]:
    def plain(inline: Inline) -> str:
        return inline.text if isinstance(inline, Link) else inline

    match block:
        case Heading():
            yield block.text
        case Paragraph():
            yield "".join(map(plain, block.parts))
        case Definitions():
            yield from (f"{entry.term}: {plain(entry.value)}" for entry in block.entries)
        case Listing():
            yield from (f"{plain(entry.title)} {entry.summary}" for entry in block.entries)
        case Table():
            yield from (" ".join(map(plain, row)) for row in block.rows)


def test_equal_seeds_give_equal_sites(site: Site) -> None:
    assert build_site(site.seed) == site


def test_another_seed_gives_other_answers(site: Site) -> None:
    answers = {question.id: question.answer for question in site.questions}
    others = {question.id: question.answer for question in build_site(8).questions}
    common = answers.keys() & others.keys()
    assert len(common) >= 20
    assert sum(answers[name] != others[name] for name in common) > len(common) * 0.7


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_root_has_about_eighty_links(site: Site, lang: str) -> None:
    assert 75 <= len(site.links(f"/{lang}")) <= 85


def test_every_link_leads_to_a_page_or_is_a_known_trap(site: Site) -> None:
    dangling = {
        (path, link.path)
        for path in site.pages
        for link in site.links(path)
        if link.path not in site.pages and not is_trap(urlsplit(link.path).path)
    }
    assert not dangling


def test_both_halves_have_the_same_pages(site: Site) -> None:
    english, chinese = ({path[3:] for path in site.pages if path.startswith(f"/{lang}")} for lang in ("en", "zh"))
    assert english == chinese
    assert len(english) >= 100


def test_pages_are_distinct_documents_of_several_paragraphs(site: Site) -> None:
    texts = {path: text_of(site, path) for path in site.pages}
    assert len(set(texts.values())) == len(texts)
    for page in site.pages.values():
        assert sum(isinstance(block, Paragraph) for block in page.blocks) >= 2, page.path


def test_there_are_enough_questions_of_every_depth(site: Site) -> None:
    for lang, least in (("en", 24), ("zh", 16)):
        questions = [question for question in site.questions if question.lang == lang]
        assert len(questions) >= least
        assert {question.hops for question in questions} == {1, 2, 3}
    assert len({question.id for question in site.questions}) == len(site.questions)


@pytest.mark.parametrize("seed", [7, 8, 2026])
def test_each_golden_path_is_made_of_links_and_ends_at_the_answer(seed: int) -> None:
    site = build_site(seed)
    for question in site.questions:
        for here, there in zip((question.root_path, *question.golden_path), question.golden_path, strict=False):
            assert there in {link.path for link in site.links(here)}, question.id
        assert len(question.golden_path) == question.hops
        for token in question.answer_tokens:
            assert token in text_of(site, question.golden_path[-1]), question.id


def test_no_question_holds_its_answer(site: Site) -> None:
    assert [question.id for question in site.questions if question.answer in question.question] == []


def test_answers_are_nowhere_before_the_last_page(site: Site) -> None:
    def early(question: Question) -> bool:
        before = (question.root_path, *question.golden_path[:-1])
        return any(
            question.answer in line and site.pages[question.golden_path[-1]].title in line
            for path in before
            for line in text_of(site, path).splitlines()
        )

    assert [question.id for question in site.questions if early(question)] == []


def test_nobody_reviews_their_own_report(site: Site) -> None:
    for path, page in site.pages.items():
        if path.startswith("/en/publications/reports/"):
            named = [
                entry.value.path
                for block in page.blocks
                if isinstance(block, Definitions)
                for entry in block.entries
                if isinstance(entry.value, Link)
            ]
            assert len(named) == len(set(named)) == 2


def test_lists_are_equally_long_in_all_languages() -> None:
    lengths = [
        {name: len(words) for name, words in load_words(lang).lists.items()} for lang in load_structure().languages
    ]
    assert lengths[0] == lengths[1]


def test_an_unknown_listing_style_is_refused() -> None:
    with pytest.raises(ValueError, match="no listing style 'rows'"):
        style("rows")
