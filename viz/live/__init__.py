"""The same exhibits without a server, and with a model that answers in the reader's browser.

`engine/` runs a checkpoint of ours in a worker, `payloads/` makes of its numbers the bytes that the
components of viz/components draw, `page/` is the page around them. Python stays right: what a text
does not change is written into the page by `site.py`, and tests hold the browser to Python field by
field.
"""
