"""Figures that are not views: drawn by the page that has their data, or a part of other figures.

No Streamlit here, and no colour or size that is not in viz/theme.py.
"""
