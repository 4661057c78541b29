"""The pages of the app, a file or a folder each: what declares a PAGE is in the navigation."""
