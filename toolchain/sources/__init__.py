"""From a pin to a verified, patched tree."""
