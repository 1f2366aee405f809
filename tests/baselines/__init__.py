"""The baselines: regret bounds, twins, and what only scale-dependent learners do."""
