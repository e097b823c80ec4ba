"""Archives: every member is judged and placed before the first byte is written."""
