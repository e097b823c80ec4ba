"""A tiled rasteriser: triangles are counted into tiles of 16 x 16 pixels, then each tile is drawn by one threadgroup.

Triangles are nine floats: x, y, depth of three corners, in pixels.
"""

from image import Image
from max.gpu import barrier, block_idx, global_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from max.gpu.memory import AddressSpace
from std.atomic import Atomic, Ordering
from std.memory import unsafe_stack_allocation

comptime TILE = 16
comptime PIXELS = TILE * TILE
comptime PER_TILE = 64  # triangles that a tile holds; more are dropped


@fieldwise_init
struct Corner(TrivialRegisterPassable):
    var x: Float32
    var y: Float32
    var depth: Float32


@always_inline
def corner(triangles: Pointer[Float32, MutUntrackedOrigin], triangle: Int, number: Int) -> Corner:
    var first = triangle * 9 + number * 3
    return Corner(
        triangles[unsafe_offset=first], triangles[unsafe_offset=first + 1], triangles[unsafe_offset=first + 2]
    )


@always_inline
def edge(a: Corner, b: Corner, x: Float32, y: Float32) -> Float32:
    """Twice the area of the triangle a, b, (x, y): positive on the left of a to b."""
    return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)


@no_inline
def tile_of(value: Float32, tiles: Int) -> Int:
    """The tile that a coordinate is in, or the nearest one."""
    return min(max(Int(value) // TILE, 0), tiles - 1)


def clear_tiles(counts: Pointer[Int32, MutUntrackedOrigin], tiles: Int32):
    var tile = Int(global_idx.x)
    if tile < Int(tiles):
        counts[unsafe_offset=tile] = 0


def bin_triangles(
    triangles: Pointer[Float32, MutUntrackedOrigin],
    triangle_count: Int32,
    counts: Pointer[Int32, MutUntrackedOrigin],
    lists: Pointer[Int32, MutUntrackedOrigin],
    tiles_x: Int32,
    tiles_y: Int32,
):
    var triangle = Int(global_idx.x)
    if triangle >= Int(triangle_count):
        return
    var a = corner(triangles, triangle, 0)
    var b = corner(triangles, triangle, 1)
    var c = corner(triangles, triangle, 2)
    var left = tile_of(min(a.x, min(b.x, c.x)), Int(tiles_x))
    var right = tile_of(max(a.x, max(b.x, c.x)), Int(tiles_x))
    var top = tile_of(min(a.y, min(b.y, c.y)), Int(tiles_y))
    var bottom = tile_of(max(a.y, max(b.y, c.y)), Int(tiles_y))
    for row in range(top, bottom + 1):
        for column in range(left, right + 1):
            var tile = row * Int(tiles_x) + column
            var place = Int(
                Atomic[Int32].fetch_add[ordering=Ordering.RELAXED](counts.unsafe_offset(tile), Int32(1))
            )
            if place < PER_TILE:
                lists[unsafe_offset=tile * PER_TILE + place] = Int32(triangle)


def shade_tiles(
    triangles: Pointer[Float32, MutUntrackedOrigin],
    colours: Pointer[Float32, MutUntrackedOrigin],
    counts: Pointer[Int32, MutUntrackedOrigin],
    lists: Pointer[Int32, MutUntrackedOrigin],
    pixels: Pointer[Float32, MutUntrackedOrigin],
    depths: Pointer[Float32, MutUntrackedOrigin],
    width: Int32,
    height: Int32,
    tiles_x: Int32,
    background_red: Float32,
    background_green: Float32,
    background_blue: Float32,
    near: Float32,
    far: Float32,
    light: Float32,
):
    var shared = unsafe_stack_allocation[PER_TILE, Int32, address_space=AddressSpace.SHARED]()
    var lane = Int(thread_idx.y) * TILE + Int(thread_idx.x)
    var tile = Int(block_idx.y) * Int(tiles_x) + Int(block_idx.x)
    var count = min(Int(counts[unsafe_offset=tile]), PER_TILE)
    if lane < count:
        shared[unsafe_offset=lane] = lists[unsafe_offset=tile * PER_TILE + lane]
    barrier()

    var image = Image(pixels, Int(width), Int(height))
    var x = Int(global_idx.x)
    var y = Int(global_idx.y)
    if x >= image.width or y >= image.height:
        return
    var at_x = Float32(x) + 0.5
    var at_y = Float32(y) + 0.5
    var nearest = far
    var winner = -1
    for number in range(count):
        var triangle = Int(shared[unsafe_offset=number])
        var a = corner(triangles, triangle, 0)
        var b = corner(triangles, triangle, 1)
        var c = corner(triangles, triangle, 2)
        var area = edge(a, b, c.x, c.y)
        var wa = edge(b, c, at_x, at_y)
        var wb = edge(c, a, at_x, at_y)
        var wc = edge(a, b, at_x, at_y)
        if area > 0 and wa >= 0 and wb >= 0 and wc >= 0:
            var depth = (wa * a.depth + wb * b.depth + wc * c.depth) / area
            if depth >= near and depth < nearest:
                nearest = depth
                winner = triangle
    depths[unsafe_offset=y * image.width + x] = nearest
    var red = background_red
    var green = background_green
    var blue = background_blue
    if winner >= 0:
        var shade = light * (far - nearest) / (far - near)
        red = colours[unsafe_offset=winner * 3] * shade
        green = colours[unsafe_offset=winner * 3 + 1] * shade
        blue = colours[unsafe_offset=winner * 3 + 2] * shade
    image.put(x, y, 0, red)
    image.put(x, y, 1, green)
    image.put(x, y, 2, blue)
    image.put(x, y, 3, 1.0)


def draw(
    ctx: DeviceContext,
    triangles: DeviceBuffer[DType.float32],
    colours: DeviceBuffer[DType.float32],
    triangle_count: Int,
    pixels: DeviceBuffer[DType.float32],
    depths: DeviceBuffer[DType.float32],
    width: Int,
    height: Int,
) raises:
    """Draw triangles on a background: the three kernels, one after the other."""
    var tiles_x = (width + TILE - 1) // TILE
    var tiles_y = (height + TILE - 1) // TILE
    var tiles = tiles_x * tiles_y
    var counts = ctx.enqueue_create_buffer[DType.int32](tiles)
    var lists = ctx.enqueue_create_buffer[DType.int32](tiles * PER_TILE)
    ctx.enqueue_function[clear_tiles](counts, Int32(tiles), grid_dim=(tiles + 255) // 256, block_dim=256)
    ctx.enqueue_function[bin_triangles](
        triangles,
        Int32(triangle_count),
        counts,
        lists,
        Int32(tiles_x),
        Int32(tiles_y),
        grid_dim=(triangle_count + 63) // 64,
        block_dim=64,
    )
    ctx.enqueue_function[shade_tiles](
        triangles,
        colours,
        counts,
        lists,
        pixels,
        depths,
        Int32(width),
        Int32(height),
        Int32(tiles_x),
        Float32(0.05),
        Float32(0.05),
        Float32(0.08),
        Float32(0.1),
        Float32(100),
        Float32(1),
        grid_dim=(tiles_x, tiles_y),
        block_dim=(TILE, TILE),
    )
