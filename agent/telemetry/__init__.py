"""What tools that watch programs are told: OpenTelemetry spans and metrics, Prometheus text.

All of it comes from the events of a run (`agent.events`); nothing is told unless somebody asked for it.
"""

__all__: list[str] = []
