"""Experiment: the model is changed in many ways, one after the other, and the effects compared."""

from viz.pages.experiment.page import PAGE

__all__ = ["PAGE"]
