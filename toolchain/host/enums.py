"""The numbers of native/glue/dgpu.h, under its names without the prefix. tests/local/test_host_abi.py compares them."""

from __future__ import annotations

from enum import IntEnum, IntFlag

ABI_VERSION = 1
STRICT_AOT_EXIT_STATUS = 86
ANY_ADAPTER = NO_BINDING = NO_ROW = 0xFFFFFFFF


class Status(IntEnum):
    """How a call ended."""

    OK = 0
    EINVALID = 1
    ESTALE = 2
    EWRONGDEVICE = 3
    EUNAVAILABLE = 4
    ENOTCOMPILED = 5
    EUNSUPPORTED = 6
    EDEVICELOST = 7
    ELAYOUT = 8
    ECODE = 9
    EENTRY = 10
    EBINDING = 11
    ERANGE = 12
    EMEMORY = 13
    EDRIVER = 14
    EPENDING = 15
    EINTERNAL = 16
    EBUNDLE = 17


class Backend(IntEnum):
    """A graphics or compute API. AUTO takes the platform's first that opens; never CUDA."""

    AUTO = 0
    VULKAN = 1
    METAL = 2
    WEBGPU = 3
    D3D12 = 4
    D3D11 = 5
    CUDA = 6

    @property
    def bit(self) -> int:
        """This backend in a mask."""
        return 1 << self.value


class Platform(IntEnum):
    """Whose order of backends to take."""

    THIS = 0
    LINUX = 1
    MACOS = 2
    WINDOWS = 3


class AdapterType(IntEnum):
    """What kind of device an adapter is."""

    UNKNOWN = 0
    DISCRETE = 1
    INTEGRATED = 2
    SOFTWARE = 3


class Feature(IntEnum):
    """What a device may have and a shader may need."""

    SUBGROUPS = 1
    FLOAT16 = 2
    COOPERATIVE_VECTORS = 3
    COOPERATIVE_MATRICES = 4
    RAY_TRACING = 5
    RAY_QUERY = 6
    BINDLESS = 7
    RASTERIZATION = 8
    FLOAT64 = 9
    INT16 = 10
    INT64 = 11


class Format(IntEnum):
    """A texel's, or a typed buffer's or vertex attribute's element."""

    UNDEFINED = 0
    R8_UINT = 1
    R8_SINT = 2
    R8_UNORM = 3
    R8_SNORM = 4
    RG8_UINT = 5
    RG8_SINT = 6
    RG8_UNORM = 7
    RG8_SNORM = 8
    RGBA8_UINT = 9
    RGBA8_SINT = 10
    RGBA8_UNORM = 11
    RGBA8_UNORM_SRGB = 12
    RGBA8_SNORM = 13
    BGRA8_UNORM = 14
    BGRA8_UNORM_SRGB = 15
    R16_UINT = 16
    R16_SINT = 17
    R16_UNORM = 18
    R16_SNORM = 19
    R16_FLOAT = 20
    RG16_UINT = 21
    RG16_SINT = 22
    RG16_UNORM = 23
    RG16_SNORM = 24
    RG16_FLOAT = 25
    RGBA16_UINT = 26
    RGBA16_SINT = 27
    RGBA16_UNORM = 28
    RGBA16_SNORM = 29
    RGBA16_FLOAT = 30
    R32_UINT = 31
    R32_SINT = 32
    R32_FLOAT = 33
    RG32_UINT = 34
    RG32_SINT = 35
    RG32_FLOAT = 36
    RGB32_UINT = 37
    RGB32_SINT = 38
    RGB32_FLOAT = 39
    RGBA32_UINT = 40
    RGBA32_SINT = 41
    RGBA32_FLOAT = 42
    RGB10A2_UINT = 43
    RGB10A2_UNORM = 44
    R11G11B10_FLOAT = 45
    RGB9E5_UFLOAT = 46
    D16_UNORM = 47
    D32_FLOAT = 48
    D32_FLOAT_S8_UINT = 49
    BC1_UNORM = 50
    BC1_UNORM_SRGB = 51
    BC3_UNORM = 52
    BC3_UNORM_SRGB = 53
    BC4_UNORM = 54
    BC5_UNORM = 55
    BC6H_UFLOAT = 56
    BC7_UNORM = 57
    BC7_UNORM_SRGB = 58


class FormatUse(IntFlag):
    """What a device can do with a format."""

    SAMPLE = 1 << 0
    STORE = 1 << 1
    COLOR_TARGET = 1 << 2
    BLEND = 1 << 3
    DEPTH_STENCIL = 1 << 4
    VERTEX = 1 << 5
    MULTISAMPLE = 1 << 6


class BufferUse(IntFlag):
    """What a buffer is for."""

    VERTEX = 1 << 0
    INDEX = 1 << 1
    CONSTANT = 1 << 2
    READ = 1 << 3
    WRITE = 1 << 4
    INDIRECT = 1 << 5


class TextureType(IntEnum):
    """A texture's shape. Its members are spelled as dgpu.h's but for the leading digit."""

    D1 = 1
    D1_ARRAY = 2
    D2 = 3
    D2_ARRAY = 4
    D3 = 5
    CUBE = 6
    CUBE_ARRAY = 7


class TextureUse(IntFlag):
    """What a texture is for."""

    SAMPLE = 1 << 0
    STORE = 1 << 1
    COLOR_TARGET = 1 << 2
    DEPTH_STENCIL = 1 << 3


class Filter(IntEnum):
    """How a sampler reads between texels."""

    POINT = 0
    LINEAR = 1


class Address(IntEnum):
    """What a sampler reads outside of a texture."""

    WRAP = 0
    CLAMP = 1
    BORDER = 2
    MIRROR = 3
    MIRROR_ONCE = 4


class Compare(IntEnum):
    """A comparison; NONE compares nothing."""

    NONE = 0
    NEVER = 1
    LESS = 2
    EQUAL = 3
    LESS_EQUAL = 4
    GREATER = 5
    NOT_EQUAL = 6
    GREATER_EQUAL = 7
    ALWAYS = 8


class RowKind(IntEnum):
    """What a parameter row holds."""

    VALUE = 1
    CONSTANT_BUFFER = 2
    BUFFER = 3
    RW_BUFFER = 4
    TEXTURE = 5
    RW_TEXTURE = 6
    SAMPLER = 7
    TEXTURE_SAMPLER = 8


class Topology(IntEnum):
    """What vertices make."""

    TRIANGLES = 0
    TRIANGLE_STRIP = 1
    LINES = 2
    LINE_STRIP = 3
    POINTS = 4


class Cull(IntEnum):
    """Which triangles are not drawn."""

    NONE = 0
    FRONT = 1
    BACK = 2


class BlendFactor(IntEnum):
    """What a blended colour is multiplied with."""

    ZERO = 0
    ONE = 1
    SRC_COLOR = 2
    INV_SRC_COLOR = 3
    SRC_ALPHA = 4
    INV_SRC_ALPHA = 5
    DST_COLOR = 6
    INV_DST_COLOR = 7
    DST_ALPHA = 8
    INV_DST_ALPHA = 9


class BlendOp(IntEnum):
    """How the two colours are put together."""

    ADD = 0
    SUBTRACT = 1
    REVERSE_SUBTRACT = 2
    MIN = 3
    MAX = 4


class StencilOp(IntEnum):
    """What becomes of a stencil value."""

    KEEP = 0
    ZERO = 1
    REPLACE = 2
    INCREMENT_CLAMP = 3
    DECREMENT_CLAMP = 4
    INVERT = 5
    INCREMENT_WRAP = 6
    DECREMENT_WRAP = 7


class Load(IntEnum):
    """What an attachment holds when a pass begins."""

    CLEAR = 0
    KEEP = 1
    DISCARD = 2


class Store(IntEnum):
    """What remains of an attachment when a pass ends."""

    KEEP = 0
    DISCARD = 1


class IndexType(IntEnum):
    """The size of an index."""

    UINT16 = 0
    UINT32 = 1
