"""Pictures of a page without a server whose reader types: an engine answers in their browser.

`request.py` says what an engine is asked for in the place of what Python drew, or why it cannot be;
`weights.py` has what a page holds for it, and `typing.js` the field, the worker, and who answers.
What Python drew is the still: it is shown first, and stays where no engine runs.
"""
