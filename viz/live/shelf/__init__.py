"""Lists of a folder without a server: gallery, stories and lessons, of the app's own cards.

A card leads to what the folder has: a screen of its page, or the recorded page of a story.
"""

LISTS = ("gallery", "stories", "lessons")
"""Their names, in the order of the menu: a folder may be made without one of them."""
