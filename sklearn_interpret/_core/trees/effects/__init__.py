"""Responses of trees to perturbed rows, without predicting them."""
