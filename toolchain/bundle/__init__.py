"""Shader bundles: what is in one, how one is made from a manifest, and the file that it is.

docs/bundle-format.md describes the file, docs/bundles.md the manifest and the making.
"""
