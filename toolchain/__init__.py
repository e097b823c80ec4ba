"""Pinned GPU toolchains: fetch, verify, patch, build, install, check."""

__version__ = "0.1.0"
