"""An agent that answers questions from web sites: targets that decide, predictors that guess, and the loop between.

`agent.wiring.ask` answers one question; `agent.cli` is the command line.
"""

__all__: list[str] = []
