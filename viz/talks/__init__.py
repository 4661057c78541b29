"""Talks and stories on the screen: rooms, the stage, the audience, and the drafts.

A talk is a story whose scenes are shown for a wall: `role=stage` in the address. It is the same
page, with heading and text above it, and with navigation and tools out of sight. All type is a part
of the screen's width and height. The component `stage` hears the keys, for the window and not for a
page, so that none is lost while a page is drawn.

All windows of a talk agree by its room, a value in the server's memory: the Screen that everybody
is to see, what hides it on the wall, and a number that each move raises by one. A window listens at
a socket; the last move holds. In a room the audience answers together: points go over the socket
and come back as a tally. A phone hears only of its own answer until a move brings a `guess`.
"""
