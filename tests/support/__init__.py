"""What the tests stand on: a package index, projects, interpreters, capabilities."""
