"""The way to the outside: HTTP, its retries and its resumed downloads. The only sockets."""
