"""Talks and stories on the screen: rooms, the stage, the audience, and the drafts."""
