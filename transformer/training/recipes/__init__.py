"""Recipes: one run a file, declared by RECIPE."""
