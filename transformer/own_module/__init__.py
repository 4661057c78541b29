"""A torch.nn.Module of one's own as a checkpoint: it decodes, records and opens like any other.

Its code runs because whoever wrote it has started it: nothing here imports or reads a file.
"""
