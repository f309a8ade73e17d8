from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from urllib.parse import urlsplit

import numpy as np
import pytest

from browser.observation import Link as SeenLink
from browser.speculation.gate import refusal
from evals.site.page import Listing, Page, Table, block_text
from evals.site.traps import is_trap
from evals.suites.item import Item
from evals.walks import WalkSite, build_sites, root_size, walks_suite
from evals.walks.facts import draw_facts, write_number
from evals.walks.questions import DIFFICULTIES, difficulty_of
from evals.walks.texts import DOMAINS, LANGUAGES, load_texts

ADDRESS = "http://127.0.0.1:8000"
PUBLISHED = {0.25: 36, 0.50: 78, 0.75: 103, 0.90: 145, 0.95: 198, 1.0: 1070}


@pytest.fixture(scope="module")
def sites() -> dict[str, WalkSite]:
    return {site.name: site for site in build_sites()}


@pytest.fixture(scope="module")
def items() -> tuple[Item, ...]:
    return walks_suite().items


@pytest.fixture(scope="module")
def texts(sites: dict[str, WalkSite]) -> dict[str, dict[str, str]]:
    """What stands on each page, by site and path; what stands around every page is under the empty path."""
    return {
        name: {"": frame_text(site)} | {path: page_text(page) for path, page in site.site.pages.items()}
        for name, site in sites.items()
    }


def page_text(page: Page) -> str:
    return "\n".join((page.title, *(link.text for link in page.breadcrumbs), *map(block_text, page.blocks)))


def frame_text(site: WalkSite) -> str:
    frame = next(iter(site.site.frames.values()))
    return "\n".join(link.text for link in (*frame.navigation, *frame.footer))


def steps(items: tuple[Item, ...]) -> Iterator[tuple[Item, str, str]]:
    """Each step of each way, with the page before."""
    for item in items:
        for way in item.golden:
            yield from ((item, here, there) for here, there in pairwise((item.url, *way)))


def test_there_are_as_many_sites_and_questions_as_said(sites: dict[str, WalkSite], items: tuple[Item, ...]) -> None:
    assert len(sites) == 24
    assert len(items) == len({item.id for item in items}) == len({item.question for item in items}) == 240
    assert sorted(items, key=lambda item: item.id) == sorted(
        (item for site in sites.values() for item in site.items), key=lambda item: item.id
    )


def test_root_pages_have_as_many_links_as_published(sites: dict[str, WalkSite]) -> None:
    sizes = [len(site.root_links()) for site in sites.values()]
    for share, size in PUBLISHED.items():
        assert np.quantile(sizes, share) == pytest.approx(size, rel=0.1), share
    assert sorted(sizes) == [root_size(place, sites=24) for place in range(24)]


def test_a_place_beyond_the_last_site_has_no_size() -> None:
    with pytest.raises(ValueError, match="no place 24 among 24"):
        root_size(24, sites=24)


def test_equal_seeds_give_equal_sites_and_others_do_not() -> None:
    assert build_sites(8, variants=1) == build_sites(8, variants=1) != build_sites(9, variants=1)


def test_kinds_domains_languages_and_difficulties_are_balanced(items: tuple[Item, ...]) -> None:
    assert Counter(item.kind for item in items) == {"single_source": 120, "multi_source": 120}
    assert Counter(item.domain for item in items) == dict.fromkeys(DOMAINS, 60)
    assert Counter(item.lang for item in items) == {"zh": 132, "en": 108}
    for level in ("easy", "medium", "hard"):
        share = sum(item.difficulty == level for item in items) / len(items)
        assert share == pytest.approx(DIFFICULTIES.count(level[0]) / len(DIFFICULTIES), abs=0.06)


def test_ways_have_one_to_four_links_and_say_how_hard_a_question_is(items: tuple[Item, ...]) -> None:
    hops = Counter(len(way) for item in items for way in item.golden)
    assert set(hops) == {1, 2, 3, 4}
    assert {len(item.golden) for item in items} == {1, 2, 3}
    for item in items:
        assert item.difficulty == difficulty_of([len(way) for way in item.golden])
        assert (item.kind == "single_source") == (len(item.golden) == 1)
        assert tuple(way[-1] for way in item.golden) == item.sources
        assert len(set(item.sources)) == len(item.sources) == len(item.answer_tokens)


@pytest.mark.parametrize(
    ("hops", "level"),
    [([1], "easy"), ([2], "medium"), ([4], "hard"), ([1, 1], "easy"), ([1, 3], "medium"), ([2, 3], "hard")],
)
def test_difficulty_is_that_of_webwalkerqa(hops: list[int], level: str) -> None:
    assert difficulty_of(hops) == level


@pytest.mark.parametrize("count", [8, 9, 13, 20, 31])
def test_the_first_questions_are_a_fair_sample(items: tuple[Item, ...], count: int) -> None:
    groups = Counter((item.domain, item.kind) for item in items[:count])
    assert len(groups) == 8
    assert max(groups.values()) - min(groups.values()) <= 1


def test_every_link_leads_to_a_page_or_is_a_known_trap(sites: dict[str, WalkSite]) -> None:
    for site in sites.values():
        leads = {link.path for path in site.site.pages for link in site.site.links(path)}
        assert {path for path in leads - site.site.pages.keys() if not is_trap(urlsplit(path).path)} == set()


def test_every_step_is_a_link_of_the_page_before(sites: dict[str, WalkSite], items: tuple[Item, ...]) -> None:
    for item, here, there in steps(items):
        assert there in {link.path for link in sites[item.site].site.links(here)}, item.id


def test_no_step_is_refused_ahead_of_time(sites: dict[str, WalkSite], items: tuple[Item, ...]) -> None:
    for item, here, there in steps(items):
        for link in sites[item.site].site.links(here):
            if link.path == there:
                seen = SeenLink(number=1, text=link.text, url=ADDRESS + there, rel=link.rel, language=link.language)
                assert refusal(seen, page_url=ADDRESS + here) is None, link


def test_facts_stand_on_their_page_and_on_no_other_that_names_it(
    sites: dict[str, WalkSite], texts: dict[str, dict[str, str]], items: tuple[Item, ...]
) -> None:
    for item in items:
        around = texts[item.site][""]
        for source, fact in zip(item.sources, item.answer_tokens, strict=True):
            subject = sites[item.site].site.pages[source].title
            named = subject in around
            found = [path for path, text in texts[item.site].items() if fact in text and (named or subject in text)]
            assert found == [source], item.id


def test_questions_are_questions(items: tuple[Item, ...]) -> None:
    assert [item.question for item in items if item.question[-1] != {"en": "?", "zh": "？"}[item.lang]] == []
    assert [
        item.question for item in items if "{" in item.question or "  " in item.question or "'s's" in item.question
    ] == []


def test_no_question_holds_a_fact_of_its_answer(items: tuple[Item, ...]) -> None:
    assert [item.id for item in items if any(fact in item.question for fact in item.answer_tokens)] == []


def test_answers_follow_from_the_facts(items: tuple[Item, ...]) -> None:
    for item in items:
        stated = all(fact in item.answer for fact in item.answer_tokens)
        computed = item.kind == "multi_source" and (item.answer in item.question or item.answer[0].isdigit())
        assert stated or computed, item.id


def test_titles_are_unique_within_a_site(sites: dict[str, WalkSite]) -> None:
    for site in sites.values():
        titles = Counter(page.title for page in site.site.pages.values())
        assert max(titles.values()) == 1, titles.most_common(1)


def test_pages_are_listed_in_many_ways(sites: dict[str, WalkSite]) -> None:
    for site in sites.values():
        blocks = [block for page in site.site.pages.values() for block in page.blocks]
        entries = [entry for block in blocks if isinstance(block, Listing) for entry in block.entries]
        assert any(isinstance(block, Table) for block in blocks)
        assert any(entry.more for entry in entries)
        assert any(entry.summary and not entry.more for entry in entries)
        assert any(not entry.summary for entry in entries)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_texts_and_structure_agree(domain: str, lang: str) -> None:
    texts = load_texts(domain, lang)
    assert texts.kinds.keys() == texts.texts.keys()
    for kind, spec in texts.kinds.items():
        text = texts.texts[kind]
        asked = {each.fact for each in (*text.asks, *text.multi)}
        shown = "".join(text.paragraphs)
        assert asked | text.labels.keys() | text.formats.keys() <= spec.facts.keys(), kind
        assert all(f"{{{fact}}}" in shown or fact in text.labels for fact in asked), kind
        assert spec.parent in {"", *texts.kinds}


def test_an_unknown_kind_of_number_is_refused() -> None:
    texts = load_texts("game", "en")
    with pytest.raises(ValueError, match="no number of kind 'person'"):
        write_number(3, "person", "", texts)


def test_sums_are_written_as_their_parts() -> None:
    texts = load_texts("education", "en")
    assert write_number(21, "integer:2:18", "{n} credits", texts) == "21 credits"
    assert write_number(12500, "money:1:2:1", "", texts) == "12,500 euros"


def test_facts_are_drawn_in_the_order_a_person_gives_them() -> None:
    texts = load_texts("education", "en")
    specs = {"day": "date:2026:2027", "start": "time:9:18", "weight": "decimal:1:28"}
    drawn = [draw_facts(specs, {"weight": "{n} kg"}, texts, Random(seed)) for seed in range(60)]
    assert [facts["start"].text for facts in sorted(drawn, key=lambda facts: facts["start"].rank)] == sorted(
        facts["start"].text for facts in drawn
    )
    years = [facts["day"].text[-4:] for facts in sorted(drawn, key=lambda facts: facts["day"].rank)]
    assert years == sorted(years)
    assert all(facts["weight"].text == f"{facts['weight'].rank:.1f} kg" for facts in drawn)
