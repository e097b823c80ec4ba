"""The command line: one module a command group. The only place with click, os.environ, exit codes and rich."""
