"""Estimators with the interfaces of scikit-learn and River."""
