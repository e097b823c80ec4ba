#!/usr/bin/env bash
# A Vulkan without a GPU, for tests/gpu: Mesa's lavapipe, and SwiftShader out of Debian's chromium-common, unpacked to
# build/swiftshader; and Vulkan's headers, for tests/local/test_vulkan_abi.py. As root on Debian it brings what is missing; otherwise it says what that is, and exits with 1.
#
# Both are listed together, since slang-rhi wants the instance extension VK_KHR_xlib_surface, which SwiftShader lacks,
# and the device extension VK_KHR_shader_non_semantic_info, which lavapipe before Mesa 23 lacks.
set -euo pipefail
cd "$(dirname "$0")/.."
place=build/swiftshader

say() { printf '%s\n' "$*" >&2; }
has_lavapipe() { compgen -G '/usr/share/vulkan/icd.d/lvp_icd*.json' >/dev/null; }
has_loader() { /sbin/ldconfig -p 2>/dev/null | grep 'libvulkan\.so\.1' >/dev/null; }
has_headers() { [ -e /usr/include/vulkan/vulkan_core.h ]; }
has_swiftshader() { [ -e "$place/vk_swiftshader_icd.json" ] || [ -e /usr/lib/chromium/vk_swiftshader_icd.json ]; }

missing() {
    has_lavapipe || echo mesa-vulkan-drivers
    has_loader || echo libvulkan1
    has_headers || echo libvulkan-dev
}

updated=
update() {
    [ -n "$updated" ] || apt-get update -qq >&2
    updated=yes
}

if ! has_lavapipe || ! has_loader || ! has_headers; then
    packages=$(missing | tr '\n' ' ')
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        say "No software Vulkan for tests/gpu. On Debian or Ubuntu: sudo apt-get install $packages"
        exit 1
    fi
    say "Installing: $packages"
    export DEBIAN_FRONTEND=noninteractive
    update
    # shellcheck disable=SC2086  # a list of package names
    apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi

if ! has_swiftshader; then
    if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
        say "No SwiftShader for tests/gpu: install Debian's chromium-common, or unpack vk_swiftshader_icd.json and" \
            "libvk_swiftshader.so of it into $place"
        exit 1
    fi
    if [ "$(id -u)" -eq 0 ]; then update; fi
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    say "Unpacking SwiftShader from the Debian package chromium-common"
    if ! (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root chromium-common >&2); then
        say "chromium-common could not be downloaded: tests/gpu will try lavapipe alone, which does from Mesa 23"
        exit 1
    fi
    dpkg-deb --fsys-tarfile "$work"/chromium-common_*.deb |
        tar -x -C "$work" ./usr/lib/chromium/libvk_swiftshader.so ./usr/lib/chromium/vk_swiftshader_icd.json
    mkdir -p "$place"
    # the library first: the other file says that both are there
    mv "$work/usr/lib/chromium/libvk_swiftshader.so" "$place/"
    mv "$work/usr/lib/chromium/vk_swiftshader_icd.json" "$place/"
fi
