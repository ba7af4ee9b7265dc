"""Access to users' estimators, containers and scikit-learn's internals."""
