"""The same exhibits without a server: a page whose browser runs a checkpoint by itself.

`engine/` computes, and `payloads/` packs what the components draw, both in JavaScript. Python is
right: its words reach the page through `tables`, and tests hold both to what it computes.
"""
