"""The rules that a shader bundle must pass: one family a module, parsing apart from rules (`toolchain.bundle.code`).

`docs/bundle-rules.md` lists them all; `toolchain check explain ID` prints one. `checking.check_file` runs them.
"""
