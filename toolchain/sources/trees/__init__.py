"""Trees on disk: unpacked, patched, sealed, published by rename, and checked again."""
