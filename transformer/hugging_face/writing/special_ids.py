"""Ids of special tokens as a folder says them: what is written starts and ends with some."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.checkpoint import CONFIG
from transformer.hugging_face.writing.settings import GENERATION, read_settings


@dataclass(frozen=True)
class SpecialIds:
    """The ids that a folder says, by the names of the library."""

    vocab_size: int
    writing: Mapping[str, Any] | None
    """The values of generation_config.json, which alone hold for writing; None: there is none."""
    model: Mapping[str, Any]
    """The values of config.json as it is written: the library drops some of them."""
    config: Any
    """The library's configuration, for what its class takes where nothing is said."""

    def anywhere(self, name: str) -> Sequence[int]:
        """Return what either file says, or what the class takes."""
        values = ((self.writing or {}).get(name), self.model.get(name))
        return next(filter(None, map(_ids, values)), _ids(getattr(self.config, name, None)))

    def of_writing(self, name: str) -> list[int]:
        """Return what `generate` follows, as far as it is in the vocabulary."""
        ids = self.anywhere(name) if self.writing is None else _ids(self.writing.get(name))
        return [id for id in ids if 0 <= id < self.vocab_size]

    @property
    def ends(self) -> frozenset[int]:
        """The tokens that end what is written."""
        return frozenset(self.of_writing("eos_token_id"))

    @property
    def starts(self) -> tuple[int, ...]:
        """The token that every target starts with, and the one that is forced to follow it."""
        names = ("decoder_start_token_id", "bos_token_id")
        places = [*map(self.of_writing, names), *map(self.anywhere, names)]
        start = next((ids[0] for ids in places if len(ids) == 1 and self._has(ids[0])), 0)
        forced = self.of_writing("forced_bos_token_id")
        return (start, *forced) if len(forced) == 1 and not self.ends & {*forced} else (start,)

    def _has(self, id: int) -> bool:
        return 0 <= id < self.vocab_size

    def notes(self) -> Iterator[str]:
        """A sentence for each that is not followed."""
        starts = self.anywhere("decoder_start_token_id")
        if starts and not any(map(self._has, starts)):
            yield (
                f"decoder_start_token_id {starts[0]} is not in the vocabulary of "
                f"{self.vocab_size:,}: what is written starts with {self.starts[0]}."
            )
        ends, theirs = self.anywhere("eos_token_id"), _ids((self.writing or {}).get("eos_token_id"))
        if self.writing is not None and not self.ends and any(map(self._has, ends)):
            yield (
                f"{GENERATION}, which holds for writing, names no token that ends a text: "
                f"{CONFIG} says eos_token_id {ends[0]}, and `generate` does not follow it."
            )
        elif not self.ends and theirs and max(theirs) >= self.vocab_size:
            yield (
                f"{GENERATION} says eos_token_id {max(theirs)}, of a vocabulary larger than this "
                f"one of {self.vocab_size:,}: no token ends a text."
            )
        if forced := self.ends & {*self.of_writing("forced_bos_token_id")}:
            yield f"forced_bos_token_id {min(forced)} would end each text at once: not followed."


def special_ids(path: Path, config: Any, vocab_size: int) -> SpecialIds:
    """The special tokens of a folder; of one without these files, those of the configuration."""
    writing, model = read_settings(path / GENERATION), read_settings(path / CONFIG)
    return SpecialIds(vocab_size, writing, model or {}, config)


def _ids(value: Any) -> list[int]:
    """One id, or several."""
    several = value if isinstance(value, list | tuple) else [value]
    return [id for id in several if isinstance(id, int) and not isinstance(id, bool)]
