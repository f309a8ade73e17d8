"""What guesses the next actions: the free ranker, a draft model, and baselines to compare with."""

__all__: list[str] = []
