#include "formats.hpp"

#include "status.hpp"

#include <array>
#include <string>

namespace dream::host
{

namespace
{

using rhi::Format;

// By DgpuFormat.
constexpr std::array<Format, DGPU_FORMAT_COUNT> formats{
    Format::Undefined,      Format::R8Uint,       Format::R8Sint,         Format::R8Unorm,        Format::R8Snorm,
    Format::RG8Uint,        Format::RG8Sint,      Format::RG8Unorm,       Format::RG8Snorm,       Format::RGBA8Uint,
    Format::RGBA8Sint,      Format::RGBA8Unorm,   Format::RGBA8UnormSrgb, Format::RGBA8Snorm,     Format::BGRA8Unorm,
    Format::BGRA8UnormSrgb, Format::R16Uint,      Format::R16Sint,        Format::R16Unorm,       Format::R16Snorm,
    Format::R16Float,       Format::RG16Uint,     Format::RG16Sint,       Format::RG16Unorm,      Format::RG16Snorm,
    Format::RG16Float,      Format::RGBA16Uint,   Format::RGBA16Sint,     Format::RGBA16Unorm,    Format::RGBA16Snorm,
    Format::RGBA16Float,    Format::R32Uint,      Format::R32Sint,        Format::R32Float,       Format::RG32Uint,
    Format::RG32Sint,       Format::RG32Float,    Format::RGB32Uint,      Format::RGB32Sint,      Format::RGB32Float,
    Format::RGBA32Uint,     Format::RGBA32Sint,   Format::RGBA32Float,    Format::RGB10A2Uint,    Format::RGB10A2Unorm,
    Format::R11G11B10Float, Format::RGB9E5Ufloat, Format::D16Unorm,       Format::D32Float,       Format::D32FloatS8Uint,
    Format::BC1Unorm,       Format::BC1UnormSrgb, Format::BC3Unorm,       Format::BC3UnormSrgb,   Format::BC4Unorm,
    Format::BC5Unorm,       Format::BC6HUfloat,   Format::BC7Unorm,       Format::BC7UnormSrgb,
};

const char* name_of(Numbers numbers)
{
    switch (numbers)
    {
    case Numbers::real:
        return "float, which FLOAT, UNORM, SNORM and depth formats hold";
    case Numbers::integer:
        return "int, which SINT formats hold";
    case Numbers::natural:
        return "uint, which UINT formats hold";
    case Numbers::any:
        break;
    }
    return "any";
}

} // namespace

rhi::Format rhi_format_of(DgpuFormat format, const char* what, bool allow_undefined)
{
    if (format >= DGPU_FORMAT_COUNT || (format == DGPU_FORMAT_UNDEFINED && !allow_undefined))
        throw Failure(
            DGPU_EINVALID,
            std::string(what) + ": expected a DGPU_FORMAT_ number, got " + std::to_string(format));
    return formats[format];
}

bool is_depth(DgpuFormat format)
{
    return format >= DGPU_FORMAT_D16_UNORM && format <= DGPU_FORMAT_D32_FLOAT_S8_UINT;
}

Numbers numbers_of(DgpuFormat format)
{
    const rhi::FormatInfo& info = rhi::getFormatInfo(formats[format]);
    if (info.kind != rhi::FormatKind::Integer)
        return Numbers::real;
    return info.isSigned ? Numbers::integer : Numbers::natural;
}

Numbers numbers_of(slang::TypeReflection* type)
{
    if (type == nullptr)
        return Numbers::any;
    switch (type->getScalarType())
    {
    case slang::TypeReflection::Float16:
    case slang::TypeReflection::Float32:
    case slang::TypeReflection::Float64:
        return Numbers::real;
    case slang::TypeReflection::Int8:
    case slang::TypeReflection::Int16:
    case slang::TypeReflection::Int32:
    case slang::TypeReflection::Int64:
        return Numbers::integer;
    case slang::TypeReflection::UInt8:
    case slang::TypeReflection::UInt16:
    case slang::TypeReflection::UInt32:
    case slang::TypeReflection::UInt64:
        return Numbers::natural;
    default:
        return Numbers::any;
    }
}

void require_numbers(DgpuFormat format, Numbers declared, const std::string& called)
{
    if (declared != Numbers::any && declared != numbers_of(format))
        throw Failure(
            DGPU_EBINDING,
            called + ": the shader declares " + name_of(declared) + ", and this has the format "
                + rhi::getFormatInfo(formats[format]).name);
}

void require_offered_samples(std::uint32_t sample_count)
{
    if (sample_count > 8)
        throw Failure(
            DGPU_EUNSUPPORTED,
            "desc.sample_count is " + std::to_string(sample_count)
                + "; no more than 8 are offered, since slang-rhi does not say what a device can do beyond");
}

void require_one_aspect(DgpuFormat format, const char* doing)
{
    if (format == DGPU_FORMAT_D32_FLOAT_S8_UINT)
        throw Failure(
            DGPU_EUNSUPPORTED,
            std::string(doing) + ": D32_FLOAT_S8_UINT has a depth and a stencil, which are not copied to or from memory; "
            "render or clear them, or use D32_FLOAT");
}

void require_whole_blocks(
    DgpuFormat format, std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height,
    std::uint32_t mip_width, std::uint32_t mip_height, const char* what)
{
    const std::uint32_t side = extent_of(format, 1, 1).block_side;
    const auto on_blocks = [side](std::uint32_t at, std::uint32_t size, std::uint32_t limit)
    { return at % side == 0 && (size % side == 0 || at + size == limit); };
    if (!on_blocks(x, width, mip_width) || !on_blocks(y, height, mip_height))
        throw Failure(
            DGPU_EINVALID,
            std::string(what) + ": this format has blocks of " + std::to_string(side)
                + " texels, which are written and copied whole");
}

Extent extent_of(DgpuFormat format, std::uint32_t width, std::uint32_t height)
{
    const rhi::FormatInfo& info = rhi::getFormatInfo(formats[format]);
    Extent extent;
    extent.block_side = info.blockWidth;
    extent.block_bytes = info.blockSizeInBytes;
    const std::uint64_t side = extent.block_side;
    extent.row_bytes = (width + side - 1) / side * extent.block_bytes;
    extent.rows = (height + side - 1) / side;
    return extent;
}

} // namespace dream::host

extern "C" void dgpu_format_block(DgpuFormat format, uint32_t* block_size_bytes, uint32_t* block_side_texels)
{
    const bool is_format = format > DGPU_FORMAT_UNDEFINED && format < DGPU_FORMAT_COUNT;
    const dream::host::Extent extent = is_format ? dream::host::extent_of(format, 1, 1) : dream::host::Extent{0};
    if (block_size_bytes != nullptr)
        *block_size_bytes = extent.block_bytes;
    if (block_side_texels != nullptr)
        *block_side_texels = extent.block_side;
}
