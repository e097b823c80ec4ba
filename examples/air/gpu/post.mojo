"""A chain of post-processing: blur what is bright, add it back, and bring the picture into the display's range."""

from image import Image, luminance
from max.gpu import barrier, global_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from max.gpu.memory import AddressSpace
from std.math import exp
from std.memory import unsafe_stack_allocation

comptime GROUP = 128
comptime RADIUS = 8
comptime SPAN = GROUP + 2 * RADIUS


@no_inline
def weight(distance: Int, sharpness: Float32) -> Float32:
    """A Gaussian's value; not normalised."""
    return exp(-Float32(distance * distance) * sharpness)


def keep_bright(
    source: Pointer[Float32, MutUntrackedOrigin],
    bright: Pointer[Float32, MutUntrackedOrigin],
    width: Int32,
    height: Int32,
    threshold: Float32,
):
    var whole = Image(source, Int(width), Int(height))
    var kept = Image(bright, Int(width), Int(height))
    var x = Int(global_idx.x)
    var y = Int(global_idx.y)
    if x >= whole.width or y >= whole.height:
        return
    var red = whole.clamped(x, y, 0)
    var green = whole.clamped(x, y, 1)
    var blue = whole.clamped(x, y, 2)
    var factor = Float32(1) if luminance(red, green, blue) > threshold else Float32(0)
    kept.put(x, y, 0, red * factor)
    kept.put(x, y, 1, green * factor)
    kept.put(x, y, 2, blue * factor)
    kept.put(x, y, 3, 1.0)


def blur_rows(
    source: Pointer[Float32, MutUntrackedOrigin],
    blurred: Pointer[Float32, MutUntrackedOrigin],
    width: Int32,
    height: Int32,
    channel: Int32,
    sharpness: Float32,
):
    var row = unsafe_stack_allocation[SPAN, Float32, address_space=AddressSpace.SHARED]()
    var whole = Image(source, Int(width), Int(height))
    var target = Image(blurred, Int(width), Int(height))
    var lane = Int(thread_idx.x)
    var x = Int(global_idx.x)
    var y = Int(global_idx.y)
    row[unsafe_offset=lane + RADIUS] = whole.clamped(x, y, Int(channel))
    if lane < RADIUS:
        row[unsafe_offset=lane] = whole.clamped(x - RADIUS, y, Int(channel))
        row[unsafe_offset=lane + GROUP + RADIUS] = whole.clamped(x + GROUP, y, Int(channel))
    barrier()
    if x >= whole.width or y >= whole.height:
        return
    var total = Float32(0)
    var weights = Float32(0)
    for step in range(-RADIUS, RADIUS + 1):
        var part = weight(step, sharpness)
        total += row[unsafe_offset=lane + RADIUS + step] * part
        weights += part
    target.put(x, y, Int(channel), total / weights)


def tone_map(
    source: Pointer[Float32, MutUntrackedOrigin],
    bloom: Pointer[Float32, MutUntrackedOrigin],
    display: Pointer[UInt32, MutUntrackedOrigin],
    width: Int32,
    height: Int32,
    exposure: Float32,
    bloom_strength: Float32,
    lift: Float32,
    gain: Float32,
    saturation: Float32,
    vignette: Float32,
    dither: Bool,
):
    var whole = Image(source, Int(width), Int(height))
    var glow = Image(bloom, Int(width), Int(height))
    var x = Int(global_idx.x)
    var y = Int(global_idx.y)
    if x >= whole.width or y >= whole.height:
        return
    var packed = UInt32(0xFF000000)
    var grey = luminance(whole.clamped(x, y, 0), whole.clamped(x, y, 1), whole.clamped(x, y, 2))
    var dx = Float32(x) / Float32(whole.width) - 0.5
    var dy = Float32(y) / Float32(whole.height) - 0.5
    var edge = 1 - vignette * (dx * dx + dy * dy)
    comptime for channel in range(3):
        var value = whole.clamped(x, y, channel) + glow.clamped(x, y, channel) * bloom_strength
        value = (grey + (value - grey) * saturation) * exposure * edge
        value = (1 - exp(-value)) * gain + lift
        if dither:
            value += Float32((x * 7 + y * 13) % 16) / (16 * 255)
        var level = UInt32(min(max(value, 0), 1) * 255)
        packed |= level << UInt32(8 * channel)
    display[unsafe_offset=y * whole.width + x] = packed


def finish(
    ctx: DeviceContext,
    source: DeviceBuffer[DType.float32],
    display: DeviceBuffer[DType.uint32],
    width: Int,
    height: Int,
) raises:
    """The whole chain, for one picture."""
    var bright = ctx.enqueue_create_buffer[DType.float32](width * height * 4)
    var blurred = ctx.enqueue_create_buffer[DType.float32](width * height * 4)
    var columns = (width + GROUP - 1) // GROUP
    ctx.enqueue_function[keep_bright](
        source, bright, Int32(width), Int32(height), Float32(0.8), grid_dim=(columns, height), block_dim=(GROUP, 1)
    )
    for channel in range(3):
        ctx.enqueue_function[blur_rows](
            bright,
            blurred,
            Int32(width),
            Int32(height),
            Int32(channel),
            Float32(0.05),
            grid_dim=(columns, height),
            block_dim=(GROUP, 1),
        )
    ctx.enqueue_function[tone_map](
        source,
        blurred,
        display,
        Int32(width),
        Int32(height),
        Float32(1.2),
        Float32(0.6),
        Float32(0),
        Float32(1),
        Float32(1.1),
        Float32(0.4),
        True,
        grid_dim=(columns, height),
        block_dim=(GROUP, 1),
    )
