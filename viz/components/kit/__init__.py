"""Shared parts of the components: packing, colours, scripts, thumbnails."""
