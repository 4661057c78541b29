"""Views, one a file: a recording -> a Plotly figure. Each declares itself with a constant VIEW.

No Streamlit here, and no colour or size that is not in viz/theme.py.
"""
