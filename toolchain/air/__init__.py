"""The AIR that Mojo makes for Metal: which kernels a project launches, their modules, and what is wrong with them."""
