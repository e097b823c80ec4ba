"""native/glue/vulkan_abi.hpp against Vulkan's own header, by a real compiler."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from recording import CHECKOUT

HEADER = CHECKOUT / "native" / "glue" / "vulkan_abi.hpp"
THEIRS = {
    "Features2": "VkPhysicalDeviceFeatures2",
    "Features11": "VkPhysicalDeviceVulkan11Features",
    "Features12": "VkPhysicalDeviceVulkan12Features",
    "Features13": "VkPhysicalDeviceVulkan13Features",
    "AtomicFloat": "VkPhysicalDeviceShaderAtomicFloatFeaturesEXT",
    "AtomicFloat2": "VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT",
    "ImageAtomicInt64": "VkPhysicalDeviceShaderImageAtomicInt64FeaturesEXT",
    "Properties2": "VkPhysicalDeviceProperties2",
    "SubgroupProperties": "VkPhysicalDeviceSubgroupProperties",
}
TYPES = {
    "Features2": "PHYSICAL_DEVICE_FEATURES_2",
    "Features11": "PHYSICAL_DEVICE_VULKAN_1_1_FEATURES",
    "Features12": "PHYSICAL_DEVICE_VULKAN_1_2_FEATURES",
    "Features13": "PHYSICAL_DEVICE_VULKAN_1_3_FEATURES",
    "AtomicFloat": "PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT",
    "AtomicFloat2": "PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_2_FEATURES_EXT",
    "ImageAtomicInt64": "PHYSICAL_DEVICE_SHADER_IMAGE_ATOMIC_INT64_FEATURES_EXT",
    "Properties2": "PHYSICAL_DEVICE_PROPERTIES_2",
    "SubgroupProperties": "PHYSICAL_DEVICE_SUBGROUP_PROPERTIES",
}


def structures() -> dict[str, list[str]]:
    """The members of each structure of ours."""
    found = {}
    for name, body in re.findall(r"^struct (\w+)\n\{\n(.*?)^\};", HEADER.read_text(), flags=re.DOTALL | re.MULTILINE):
        body = re.sub(r"//.*", "", body)
        body = re.sub(r"\[\d+\]| = [^;]*", "", body)
        declared = [part for statement in body.split(";") for part in statement.split(",")]
        found[name] = [words[-1].lstrip("*") for words in map(str.split, declared) if words]
    return found


def member(structure: str, name: str) -> str:
    """Where Vulkan has a member of ours."""
    if name in ("sType", "pNext") or structure not in ("Features2", "Properties2"):
        return name
    if structure == "Features2":
        return f"features.{name}"
    return f"properties.limits.{name}" if name.startswith(("max", "min")) else f"properties.{name}"


def test_ours_is_theirs(tmp_path: Path) -> None:
    preprocess = ["c++", "-E", "-include", "vulkan/vulkan_core.h", "-"]
    if subprocess.run(preprocess, input=b"", capture_output=True, check=False).returncode != 0:
        pytest.skip("no Vulkan headers: ci/software-vulkan.sh brings libvulkan-dev")
    ours = structures()
    assert set(ours) == set(THEIRS)
    lines = ["#include <vulkan/vulkan_core.h>", "#include <cstddef>", f'#include "{HEADER}"']
    lines.append("using namespace dream::host::vulkan;")
    compared = 0
    for name, theirs in THEIRS.items():
        lines.append(f'static_assert(sizeof({name}) == sizeof({theirs}), "size of {name}");')
        lines.append(f'static_assert({name}{{}}.sType == VK_STRUCTURE_TYPE_{TYPES[name]}, "type of {name}");')
        for one in ours[name]:
            if one.startswith("unused"):
                continue
            compared += 1
            where = member(name, one)
            lines.append(f'static_assert(offsetof({name}, {one}) == offsetof({theirs}, {where}), "{name}.{one}");')
    assert compared > 180, compared
    (tmp_path / "abi.cpp").write_text("\n".join([*lines, ""]))
    built = subprocess.run(
        ["c++", "-std=c++20", "-fsyntax-only", "abi.cpp"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
