"""The Screen's owner: what is chosen, from the address to a Request, and the session around it.

A session keeps one `Session` with the Screen, the answer that is shown, and what was opened. A
widget is given the value that the Screen says (`bound`), and its callback chooses on the Screen; so
do the components' callbacks. Streamlit's forgetting of widgets therefore loses nothing. The address
is read when a session begins; from then on the Screen is right, and `address.py` spells it into the
browser through a component that draws nothing. Until the server says that it has taken the query
that somebody went to, what it writes is older, and is dropped. No clock decides anything.

While a sentence is typed the pictures follow it without a rerun (`live_preview.py`): the token rows
post what differs from the entered request, and the answer holds the data of each picture by the key
that it is mounted with.
"""
