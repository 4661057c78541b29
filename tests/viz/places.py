"""Addresses that show, together, everything that pages draw."""

TEXT = "text=3+7+2+9"
OFF = "edits=head-off:"
PATCH = "text=3+7+2+9&patch_from=3+8+2+9&edits=state-from:encoder_self.1.2=3%208%202%209"
PLACES = {
    "explore": (
        "picture=map&kind=cross&layer=1&head=2&lens=score&path=yes&own_scale=yes&special=hidden",
        "picture=inside&cell=1,2&show=entropy&sort=entropy&top=3&column=two",
        f"{OFF}cross.0.1&kind=cross&layer=1&heads=0,2&lines=2&pins=q1,k0&rows=read&tool=heads",
    ),
    "compare": (
        "picture=map",
        f"edited_b=yes&same_head=yes&{OFF}encoder_self.0.1&{TEXT}",
    ),
    "decode": (
        f"step=2&{TEXT}",
        f"{OFF}cross.1.2&{TEXT}&decoding=greedy",
        f"decode_as=text&{TEXT}",
    ),
    "sweep": (
        f"{TEXT}&sweep_sort=layer&sweep_kind=cross",
        f"{TEXT}&sweep_pairs=4",
        "sweep_over=sentences&sweep_sentences=3+7+2%0A4+9+5",
        f"experiment=patch&{PATCH}",
    ),
    "positions": ("view=encoding_heatmap", f"view=lab&{TEXT}&edits=positions-shift:source=3"),
    "inspect": (
        "inspect=tensor&pooling=mean&tensor_rows=2,9",
        "inspect=circuits&kind_circuit=encoder_self&circuit_words=3+7+9",
    ),
    "masks": ("masks=textbook&mask_text=3+7", ""),
    "training": (
        "topic=heads&snapshot=20&metric=sink",
        "topic=smoothing&epsilon=0.2&position=1",
        "topic=rate&warmup=700",
        "topic=loss&log=yes",
    ),
    "heads": (
        "heads_x=confidence&heads_order=worth",
        "heads_of=one&kind=encoder_self&layer=1&head=2",
        f"heads_of=ask&heads_ask=who+looks+at+the+previous+word&{TEXT}",
        "heads_of=align",
    ),
    "why_attention": ("n=50&d=128",),
}
"""Page -> what is chosen there: together, everything that is drawn."""
