"""The runs of the commands, once their libraries are loaded."""
