"""The address bar: written by the server, taken back by the browser."""
