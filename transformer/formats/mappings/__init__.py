"""Names of well-known Transformer code and ours, one codebase a file: each declares MAPPING."""
