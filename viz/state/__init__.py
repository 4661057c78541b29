"""The Screen's owner: what is chosen, from the address to a Request, and the session around it."""
