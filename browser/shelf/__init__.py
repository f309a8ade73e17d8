"""Public pages kept on disk from run to run."""

__all__: list[str] = []
