"""Generated web sites that a question is answered on by walking, and the questions: the suite `walks`."""

from evals.walks.root_size import root_size
from evals.walks.suite import walks_suite
from evals.walks.walk_site import WalkSite, build_sites

__all__ = ["WalkSite", "build_sites", "root_size", "walks_suite"]
