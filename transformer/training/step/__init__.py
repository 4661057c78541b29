"""One step: the loss of a batch, its gradients on all threads, the new weights."""
