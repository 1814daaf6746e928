"""What an environment is to contain for one interpreter, and the key that names it."""
