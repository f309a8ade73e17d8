"""Builds the sites of the suite, each with its questions: every domain in every language, several times.

Invariant: equal seeds give equal sites and questions; which site has the large root, and which the small ones, is drawn
as everything else is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random
from zlib import crc32

from evals.site import Site
from evals.site.page import Frame, Page, block_text
from evals.suites.item import Item
from evals.walks.layout import Layout, plan_front
from evals.walks.questions import Questioner
from evals.walks.root_size import root_size
from evals.walks.texts import DOMAINS, LANGUAGES, load_texts
from evals.walks.tree import grow

VARIANTS = 3
"""Sites of each domain in each language."""

_QUESTIONS = {"en": ((4, 5), (5, 4)), "zh": ((6, 5), (5, 6))}
"""Single-source and multi-source questions of the first, third, … site and of the others: in three sites of either
language a domain has thirty of each, and 55 % of all are Chinese."""

_OTHERS = 100
"""Pages a root links to beside those of the most numerous kind, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkSite:
    """One site, and what is asked about it.

    Attributes:
        name: Its name in the suite, such as `game-zh-2`.
        domain: What it is about.
        site: The site.
        items: The questions.
    """

    name: str
    domain: str
    site: Site
    items: tuple[Item, ...]

    @property
    def root(self) -> str:
        """The path of its root page."""
        return next(iter(self.site.pages))

    def root_links(self) -> frozenset[str]:
        """Return the paths of the sub-pages that its root links to."""
        linked = {link.path for link in self.site.links(self.root)}
        return frozenset(linked & self.site.pages.keys()) - {self.root}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is decided of a site before it is built; `place` is its place by size."""

    domain: str
    lang: str
    variant: int
    place: int
    seed: str
    size: int

    @property
    def name(self) -> str:
        return f"{self.domain}-{self.lang}-{self.variant + 1}"


def build_sites(seed: int = 7, *, variants: int = VARIANTS) -> tuple[WalkSite, ...]:
    """Build the sites, so many of each domain in each language."""
    return tuple(map(_build, _plans(seed, variants)))


def _plans(seed: int, variants: int) -> Iterator[_Plan]:
    made = list(product(DOMAINS, LANGUAGES, range(variants)))
    places = list(range(len(made)))
    Random(f"{seed}:sizes").shuffle(places)  # noqa: S311 (content, no secret)
    for (domain, lang, variant), place in zip(made, places, strict=True):
        yield _Plan(
            domain=domain,
            lang=lang,
            variant=variant,
            place=place,
            seed=f"{seed}:{domain}:{lang}:{variant}",
            size=root_size(place, sites=len(made)),
        )


def _build(plan: _Plan) -> WalkSite:
    texts = load_texts(plan.domain, plan.lang)
    tree = grow(plan.seed, texts, bulk=plan.size - _OTHERS)
    random = Random(f"{plan.seed}:layout")  # noqa: S311 (content, no secret)
    front = plan_front(tree, texts, size=plan.size, random=random)
    layout = Layout(texts.names[plan.variant % len(texts.names)], tree, front, texts, random)
    frame = layout.frame()
    pages = {page.path: page for page in layout.pages()}
    read = {path: _read(page, frame) for path, page in pages.items()}
    on_root = frozenset(node.path for node in front.nodes)
    questioner = Questioner(plan.name, tree, texts, on_root, read, Random(f"{plan.seed}:questions"))  # noqa: S311
    single, multi = _QUESTIONS[plan.lang][plan.variant % 2]
    return WalkSite(
        name=plan.name,
        domain=plan.domain,
        site=Site(seed=crc32(plan.seed.encode()), pages=pages, frames={plan.lang: frame}, questions=()),
        items=(*questioner.items(single=single, multi=multi, first=plan.place * single),),
    )


def _read(page: Page, frame: Frame) -> str:
    """Return what a person reads on a page, what stands around it included."""
    links = (*frame.navigation, *page.breadcrumbs, *frame.footer)
    return "\n".join((frame.name, *(link.text for link in links), page.title, *map(block_text, page.blocks)))
