"""Golden files: what every picture, chart and table says, a file each.

`python -m tests.golden` writes them anew; tests/golden/lines.py says what their lines are.
"""
