"""Tests of additive models."""
