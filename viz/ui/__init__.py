"""The Streamlit interface: the request and its cache, the frame, and the panel around a view."""
