"""The pictures of the browser's components as figures, one a file: DRAWING."""
