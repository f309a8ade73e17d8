"""How many questions an hour a cluster answers, what it needs for that, and what holds it up first."""
