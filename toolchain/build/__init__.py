"""Running other programs: processes and CMake."""
