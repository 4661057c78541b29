"""Thin page files: what stands where. Run by st.navigation in app.py."""
