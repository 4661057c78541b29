"""Views, one per file: a recording -> a Plotly figure. Each declares itself with a constant VIEW.

view.py says what a view declares, of_page.py which of them a page lists; viz/figures/ is what they
are built of. No Streamlit here, and no colour or size that is not in viz/theme.py.
"""
