"""Edits at work: in models of ours, in any other, and while a text is decoded.

An edit is spelled one way everywhere, `head-off:cross.2.3`. The editor takes one call of attention
as a recording keeps it, computes the scores of the heads that are edited, lets the edits change
them, and writes weights times values where the model has put its own. Rows and heads that nothing
changes keep every bit, so a factor of 1 changes nothing at all. A recorded call carries what was
done to it: weights, checks and pictures of an edited run need to know nothing of edits.

A model of ours gets a hook after each `DotProductAttention` and each table of positions when it is
first edited; the hook finds its thread's edits in a `ContextVar`, so that edits belong to a call
and never to the model. Any other module is run once and watched, which shows which call is which
attention; in the next pass an `EditingWatcher` changes those. A word that is hidden has its keys
closed in the mask before attention runs: hiding is padding to the bit.
"""
