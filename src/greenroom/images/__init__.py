"""Environments pre-built in a container image, layer by layer, and found there at run time."""
