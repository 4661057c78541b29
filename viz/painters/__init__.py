"""The look of exhibits: each painter draws one sort of content, for a screen, on a sheet."""
