"""LoRA adapters as peft saves them: read, checked, and added to the weights of a model."""
