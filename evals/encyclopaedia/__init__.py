"""An encyclopaedia of an invented country, with full-text search, and questions that take several articles."""

from evals.encyclopaedia.encyclopaedia import Encyclopaedia, build_encyclopaedia
from evals.encyclopaedia.search import Found, Hit, SearchIndex
from evals.encyclopaedia.server import EncyclopaediaServer
from evals.encyclopaedia.suite import encyclopaedia_suite

__all__ = [
    "Encyclopaedia",
    "EncyclopaediaServer",
    "Found",
    "Hit",
    "SearchIndex",
    "build_encyclopaedia",
    "encyclopaedia_suite",
]
