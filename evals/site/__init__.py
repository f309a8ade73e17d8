"""The demo site: JavaScript-heavy, seeded, slow on purpose, with questions whose answers are known."""

from evals.site.content import Site, build_site
from evals.site.errors import PortUnavailable, QuestionsInvalid, SiteError
from evals.site.latency import LatencyModel
from evals.site.question import Question, load_questions
from evals.site.server import RequestRecord, SiteServer

__all__ = [
    "LatencyModel",
    "PortUnavailable",
    "Question",
    "QuestionsInvalid",
    "RequestRecord",
    "Site",
    "SiteError",
    "SiteServer",
    "build_site",
    "load_questions",
]
