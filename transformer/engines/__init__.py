"""Engines: where the shards of a job run. One engine a file, with ENGINE."""
