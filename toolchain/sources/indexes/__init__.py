"""Package indexes: which ones this machine is configured with, and where they say a file is."""
