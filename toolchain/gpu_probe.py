"""What GPU drivers this machine has, as one JSON object on stdout; run as `python -m toolchain.gpu_probe`.

A process of its own, since a broken driver can end the process that loads it. Vulkan is asked through its loader
(vulkan_core.h: vkCreateInstance, vkEnumeratePhysicalDevices, vkGetPhysicalDeviceProperties), CUDA through its
driver library (cuda.h: cuInit, cuDriverGetVersion, cuDeviceGetName). Neither is linked; both may be absent.
"""

from __future__ import annotations

import ctypes
import json
import sys

_LOADERS = {
    "vulkan": {"win32": ("vulkan-1.dll",), "darwin": ("libvulkan.1.dylib", "libMoltenVK.dylib")},
    "cuda": {"win32": ("nvcuda.dll",), "darwin": ()},
}
_LINUX = {"vulkan": ("libvulkan.so.1",), "cuda": ("libcuda.so.1", "libcuda.so")}

_VK_SUCCESS = 0
# VkPhysicalDeviceProperties: apiVersion, driverVersion, vendorID, deviceID, deviceType (u32 each), deviceName[256]...
_NAME_OFFSET_BYTES = 20
_NAME_SIZE_BYTES = 256
_PROPERTIES_SIZE_BYTES = 4096  # the structure is 824 bytes in Vulkan 1.3; room for what a later header may append


class _InstanceCreateInfo(ctypes.Structure):
    _fields_ = (
        ("sType", ctypes.c_int32),  # VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO = 1
        ("pNext", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("pApplicationInfo", ctypes.c_void_p),
        ("enabledLayerCount", ctypes.c_uint32),
        ("ppEnabledLayerNames", ctypes.c_void_p),
        ("enabledExtensionCount", ctypes.c_uint32),
        ("ppEnabledExtensionNames", ctypes.c_void_p),
    )


def _load(api: str) -> ctypes.CDLL | None:
    for name in _LOADERS[api].get(sys.platform, _LINUX[api]):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _api_version(value: int) -> str:
    return f"{value >> 22 & 0x7F}.{value >> 12 & 0x3FF}.{value & 0xFFF}"


def probe_vulkan() -> dict[str, object]:
    """The Vulkan loader's version and the devices that its drivers offer."""
    vulkan = _load("vulkan")
    if vulkan is None:
        return {"loader": None, "devices": []}
    version = ctypes.c_uint32(0)
    if hasattr(vulkan, "vkEnumerateInstanceVersion"):  # absent in Vulkan 1.0 loaders
        vulkan.vkEnumerateInstanceVersion(ctypes.byref(version))
    found: dict[str, object] = {"loader": _api_version(version.value), "devices": []}
    instance, info = ctypes.c_void_p(), _InstanceCreateInfo(sType=1)
    status = vulkan.vkCreateInstance(ctypes.byref(info), None, ctypes.byref(instance))
    if status != _VK_SUCCESS:
        return {**found, "error": f"vkCreateInstance returned {status}"}
    count = ctypes.c_uint32(0)
    vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
    handles = (ctypes.c_void_p * count.value)()
    vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), handles)
    devices = []
    for handle in handles:
        properties = ctypes.create_string_buffer(_PROPERTIES_SIZE_BYTES)
        vulkan.vkGetPhysicalDeviceProperties(ctypes.c_void_p(handle), properties)
        name = properties.raw[_NAME_OFFSET_BYTES : _NAME_OFFSET_BYTES + _NAME_SIZE_BYTES].split(b"\0")[0]
        api = int.from_bytes(properties.raw[:4], sys.byteorder)
        devices.append({"name": name.decode("utf-8", "replace"), "api": _api_version(api)})
    vulkan.vkDestroyInstance(instance, None)
    return {**found, "devices": devices}


def probe_cuda() -> dict[str, object]:
    """The CUDA driver's version and its devices."""
    cuda = _load("cuda")
    if cuda is None:
        return {"driver": None, "devices": []}
    version = ctypes.c_int(0)
    cuda.cuDriverGetVersion(ctypes.byref(version))
    found: dict[str, object] = {"driver": f"{version.value // 1000}.{version.value % 1000 // 10}", "devices": []}
    status = cuda.cuInit(0)
    if status != 0:
        return {**found, "error": f"cuInit returned {status}"}
    count = ctypes.c_int(0)
    cuda.cuDeviceGetCount(ctypes.byref(count))
    devices = []
    for index in range(count.value):
        device, name = ctypes.c_int(0), ctypes.create_string_buffer(_NAME_SIZE_BYTES)
        cuda.cuDeviceGet(ctypes.byref(device), index)
        cuda.cuDeviceGetName(name, _NAME_SIZE_BYTES, device)
        devices.append({"name": name.value.decode("utf-8", "replace")})
    return {**found, "devices": devices}


if __name__ == "__main__":
    print(json.dumps({"vulkan": probe_vulkan(), "cuda": probe_cuda()}))  # stdout is this module's interface
