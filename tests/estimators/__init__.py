"""The estimators: scikit-learn's and River's."""
