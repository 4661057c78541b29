"""What people see: views, browser components, export and the Streamlit interface."""
