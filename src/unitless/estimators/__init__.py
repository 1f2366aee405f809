"""The learners with the interfaces of scikit-learn and of River."""
