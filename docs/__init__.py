"""The documentation; its drawings are made by the modules in `figures`."""
