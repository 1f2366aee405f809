"""Estimators with the interfaces of scikit-learn and River.

Each of them has a `Model`, which learns and predicts for it; here are only parameters, attributes
and errors as those libraries expect them. They may import models, and neither files nor evaluation.
"""
