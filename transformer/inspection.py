"""What a checkpoint holds, in numbers."""

from typing import Any

from transformer.checkpoint import Checkpoint


def inspect(checkpoint: Checkpoint) -> dict[str, Any]:
    """Sizes and parameter counts of a loaded checkpoint."""
    counts = {
        part: sum(parameter.numel() for parameter in module.parameters())
        for part, module in checkpoint.model.named_children()
    }
    return {
        "checkpoint": checkpoint.name,
        "title": checkpoint.about.title,
        "family": checkpoint.family.title,
        "parameters": sum(counts.values()),
        **{f"parameters of {part}": count for part, count in counts.items() if count},
        **checkpoint.config.to_dict(),
    }
