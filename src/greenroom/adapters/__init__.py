"""The names and signatures of projects that have such code of their own: they change an import and go on."""
