"""The parts around the pages: the server, its guard, its shell and recorded talks.

The server loads `app.py` once, as an `st.App`, for addresses beside Streamlit's. Around everything
stands one middleware (`guard.py`): it answers only to names of the server's own, tells the browser
to load nothing from elsewhere, and in public mode counts sessions and closes what is the
operator's. What a link says before it is opened is made of the address alone, and runs no model.
"""
