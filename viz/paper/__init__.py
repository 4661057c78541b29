"""Figures for a paper: drawn without a browser from what it is sent, as SVG, PDF and PNG."""
