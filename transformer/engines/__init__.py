"""Engines: where the shards of a job run. One engine a file, with ENGINE.

Work on a file is a `Job`, a frozen dataclass that is sent away, and its lines are shards. One loop
(`Crew`) counts the deaths of workers, and gives the shard of a dead one to another.
`concurrent.futures` would lose the whole pool with one worker and not know of which shard it died,
and Ray Data would add three actors of its own and its imports.
"""
