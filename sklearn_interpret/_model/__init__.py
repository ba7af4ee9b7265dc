"""The rooms that touch a user's estimator, container or scikit-learn's internals."""
