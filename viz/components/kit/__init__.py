"""What the components share: packing, colours, scripts, thumbnails."""
