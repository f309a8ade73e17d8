"""What the command line can be asked for: one module a command, or a family of them."""

__all__: list[str] = []
