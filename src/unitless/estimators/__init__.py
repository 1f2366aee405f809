"""Estimators for scikit-learn: the learners in the clothes most people know."""
