"""The archive cache: content-addressed, hashed at every use."""
