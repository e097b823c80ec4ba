"""The rules of `toolchain check air`, a module a family; docs/air-rules.md is made from them."""
