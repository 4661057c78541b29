"""Models: where requests are decoded and recorded, here or on other machines. One place a file."""
