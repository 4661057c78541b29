"""A decoder that reads a text as it stands, and then writes another one."""

from transformer.models.decoder_only import DecoderOnly, forced_pass
from transformer.models.family import Family


class ReaderWriter(DecoderOnly):
    """A generator that is told a text, and not the beginning of one."""


FAMILY = Family(
    name="reader_writer",
    title="Reader and writer",
    build=ReaderWriter,
    attentions={"decoder_self": "decoder.layers.*.self_attention.dot_product"},
    forced_pass=forced_pass,
    target="optional",
    reads="text",
    shared=lambda config: ["Nothing is shared here."],
)
