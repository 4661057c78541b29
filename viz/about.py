"""The fields that others may belong to: once one of these changes, their defaults hold again."""

CHECKPOINT, STORY = frozenset(("checkpoint",)), frozenset(("story",))
SENTENCE = CHECKPOINT | {"text", "pair"}
SEARCH = SENTENCE | {"template", "system", "decoding", "options", "turns"}
SEARCH |= {"source_language", "target_language", "prefix", "force", "forbid"}
"""The fields that make what is decoded."""
REQUEST = SEARCH | {"branch"}
"""The fields that make the question to the model."""
QUESTION = REQUEST | STORY | {"scene"}
"""Fields that make the question of a scene another one."""
HEAD, SECOND = frozenset(("kind", "layer", "head")), frozenset(("checkpoint_b", "edited_b"))
PICTURE = HEAD | {"heads", "pins", "cell"}
"""The fields of which the picture that a checkpoint opens with has none."""
HEAD_B = frozenset(("kind_b", "layer_b", "head_b"))
"""The head of B, on Compare."""
