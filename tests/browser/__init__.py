"""The explorer in a real browser, in JupyterLab and on exported pages."""
