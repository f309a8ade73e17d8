"""What is asked: suites of questions, from datasets, from files, and over generated sites."""

from evals.suites.item import SEARCH, Item
from evals.suites.suite import Addresses, Serve, Suite

__all__ = ["SEARCH", "Addresses", "Item", "Serve", "Suite"]
