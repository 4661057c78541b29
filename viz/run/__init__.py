"""The computing, for all sessions: caches, lines, batches, previews. No widget.

A study runs once for all sessions that wait for it (`work.py`), and ends when nobody waits any
more. Its `Runner` has its steps taken when it is their turn (`line.py`): who waits goes by rank and
then by who came first, and after a second by who came first alone; steps of long work are taken one
at a time, and between two of them others have the device. What people ask of a model of ours at the
same time is decoded in one `SharedBatch`: entered sentences come first, and previews leave half of
the rows to them. A process that ends takes the place itself: a thread that is ended within torch
aborts it.

A preview is a study whose value nobody keeps: of each person one goes on and one waits, and a newer
letter replaces the one that waits. What it may cost is counted, never timed.
"""
