"""Figures for a paper: drawn without a browser from what it is sent, as SVG, PDF and PNG.

One drawing a component (`drawings/`) turns the bytes that a browser is sent into a `Sheet` of
boxes, cells, lines and words in points, which `svg.py` and `printed.py` (matplotlib, imported only
then) write. Each file carries a `Record` as one word of ASCII, which is found by looking for it: no
stranger's file is parsed.
"""
