"""The commands, one module each; `catalog` lists them."""
