"""Speculation inside other people's agents: the OpenAI tools loop, LangChain and LangGraph, BrowserGym.

Each adapter is a module of its own, imported by whoever has what it adapts to.
"""

__all__: list[str] = []
