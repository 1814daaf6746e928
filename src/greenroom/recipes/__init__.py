"""(docstring to be written by the owner)"""
