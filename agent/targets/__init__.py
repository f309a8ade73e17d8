"""What decides: a model with or without reflexion, the embedded walk, and what they are told."""

__all__: list[str] = []
