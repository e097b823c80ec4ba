// What fills the slots of a program that no row names: WebGPU refuses bind groups with empty slots, and drivers crash on
// descriptors that a shader may reach and nobody wrote.
#pragma once

#include "rows.hpp"

#include <slang-rhi.h>

#include <map>
#include <utility>
#include <vector>

namespace dream::host
{

class Device;

// A device's placeholders for slots that are only read: one a kind, made when first needed.
class Placeholders
{
public:
    // What `field` of a program can be bound to. A writable slot gets a resource of its own each time.
    [[nodiscard]] rhi::Binding for_field(Device& device, const Field& field);

private:
    [[nodiscard]] Slang::ComPtr<rhi::IBuffer> buffer(Device& device, const Field& field, bool is_written);
    [[nodiscard]] Slang::ComPtr<rhi::ITexture> texture(Device& device, const Field& field, bool is_written);
    [[nodiscard]] Slang::ComPtr<rhi::ISampler> sampler(Device& device);

    std::map<std::pair<bool, Numbers>, Slang::ComPtr<rhi::IBuffer>> buffers_; // by whether they are typed
    std::map<std::pair<SlangResourceShape, Numbers>, Slang::ComPtr<rhi::ITexture>> textures_;
    Slang::ComPtr<rhi::ISampler> sampler_;
};

} // namespace dream::host
