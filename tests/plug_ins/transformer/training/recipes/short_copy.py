"""The copy task of three numbers."""

from dataclasses import replace

from transformer.training.recipes.copy import RECIPE as COPY

RECIPE = replace(COPY, name="short-copy", model=replace(COPY.model, max_len=3))
