"""The scenes of a story that is put together, each with what it shows in small."""
