"""A voxel pass: distances are spread through a grid, then rays step through it by them."""

from image import Image
from max.gpu import barrier, global_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from max.gpu.memory import AddressSpace
from std.math import sqrt
from std.memory import unsafe_stack_allocation

comptime BLOCK = 8
comptime HALO = BLOCK + 2
comptime STEPS = 96


@fieldwise_init
struct Grid(TrivialRegisterPassable):
    """A cube of voxels in device memory: how far the nearest solid one is, and its colour."""

    var distances: Pointer[Float32, MutUntrackedOrigin]
    var colours: Pointer[UInt32, MutUntrackedOrigin]
    var side: Int

    @always_inline
    def place(self, x: Int, y: Int, z: Int) -> Int:
        return (z * self.side + y) * self.side + x

    @always_inline
    def inside(self, x: Float32, y: Float32, z: Float32) -> Bool:
        var end = Float32(self.side)
        return x >= 0 and y >= 0 and z >= 0 and x < end and y < end and z < end

    @always_inline
    def distance(self, x: Int, y: Int, z: Int) -> Float32:
        """The distance at a voxel; far away outside."""
        if x < 0 or y < 0 or z < 0 or x >= self.side or y >= self.side or z >= self.side:
            return Float32(1.0e9)
        return self.distances[unsafe_offset=self.place(x, y, z)]


@no_inline
def step_at(grid: Grid, x: Float32, y: Float32, z: Float32) -> Float32:
    """How far a ray may go from a point in the grid: a struct with device pointers goes into a function of its own."""
    return max(grid.distances[unsafe_offset=grid.place(Int(x), Int(y), Int(z))] - 1, 0.5)


@always_inline
def channel(colour: UInt32, number: Int) -> Float32:
    return Float32((colour >> UInt32(8 * number)) & 0xFF) / 255


def spread(
    before: Pointer[Float32, MutUntrackedOrigin],
    after: Pointer[Float32, MutUntrackedOrigin],
    colours: Pointer[UInt32, MutUntrackedOrigin],
    side: Int32,
):
    """One round: a voxel is at most one step farther from a solid one than its neighbours are."""
    var slab = unsafe_stack_allocation[HALO * HALO, Float32, address_space=AddressSpace.SHARED]()
    var grid = Grid(before, colours, Int(side))
    var x = Int(global_idx.x)
    var y = Int(global_idx.y)
    var z = Int(global_idx.z)
    var column = Int(thread_idx.x) + 1
    var row = Int(thread_idx.y) + 1
    slab[unsafe_offset=row * HALO + column] = grid.distance(x, y, z)
    if column == 1:
        slab[unsafe_offset=row * HALO] = grid.distance(x - 1, y, z)
        slab[unsafe_offset=row * HALO + BLOCK + 1] = grid.distance(x + BLOCK, y, z)
    if row == 1:
        slab[unsafe_offset=column] = grid.distance(x, y - 1, z)
        slab[unsafe_offset=(BLOCK + 1) * HALO + column] = grid.distance(x, y + BLOCK, z)
    barrier()
    if x >= grid.side or y >= grid.side or z >= grid.side:
        return
    var beside = min(slab[unsafe_offset=row * HALO + column - 1], slab[unsafe_offset=row * HALO + column + 1])
    var above = min(slab[unsafe_offset=(row - 1) * HALO + column], slab[unsafe_offset=(row + 1) * HALO + column])
    var along = min(grid.distance(x, y, z - 1), grid.distance(x, y, z + 1))
    var nearest = min(beside, min(above, along)) + 1
    after[unsafe_offset=grid.place(x, y, z)] = min(slab[unsafe_offset=row * HALO + column], nearest)


def march(
    distances: Pointer[Float32, MutUntrackedOrigin],
    colours: Pointer[UInt32, MutUntrackedOrigin],
    side: Int32,
    pixels: Pointer[Float32, MutUntrackedOrigin],
    width: Int32,
    height: Int32,
    eye_x: Float32,
    eye_y: Float32,
    eye_z: Float32,
    right_x: Float32,
    right_z: Float32,
    forward_x: Float32,
    forward_y: Float32,
    forward_z: Float32,
    zoom: Float32,
    fog: Float32,
):
    """One ray a pixel, from the eye until it meets a solid voxel or leaves the grid."""
    var grid = Grid(distances, colours, Int(side))
    var image = Image(pixels, Int(width), Int(height))
    var px = Int(global_idx.x)
    var py = Int(global_idx.y)
    if px >= image.width or py >= image.height:
        return
    var across = (Float32(px) / Float32(image.width) - 0.5) * zoom
    var down = (Float32(py) / Float32(image.height) - 0.5) * zoom
    var dx = forward_x + right_x * across
    var dy = forward_y - down
    var dz = forward_z + right_z * across
    var length = sqrt(dx * dx + dy * dy + dz * dz)
    dx /= length
    dy /= length
    dz /= length
    var travelled = Float32(0)
    var colour = UInt32(0)
    for _ in range(STEPS):
        var x = eye_x + dx * travelled
        var y = eye_y + dy * travelled
        var z = eye_z + dz * travelled
        if not grid.inside(x, y, z):
            break
        var place = grid.place(Int(x), Int(y), Int(z))
        var distance = grid.distances[unsafe_offset=place]
        if distance < 0.5:
            colour = grid.colours[unsafe_offset=place]
            break
        travelled += step_at(grid, x, y, z)
    var light = 1 / (1 + travelled * fog)
    for number in range(3):
        image.put(px, py, number, channel(colour, number) * light)
    image.put(px, py, 3, 1.0)


def trace(
    ctx: DeviceContext,
    distances: DeviceBuffer[DType.float32],
    colours: DeviceBuffer[DType.uint32],
    side: Int,
    pixels: DeviceBuffer[DType.float32],
    width: Int,
    height: Int,
) raises:
    """Spread the distances once, and trace a picture."""
    var spread_once = ctx.enqueue_create_buffer[DType.float32](side * side * side)
    var blocks = (side + BLOCK - 1) // BLOCK
    ctx.enqueue_function[spread](
        distances,
        spread_once,
        colours,
        Int32(side),
        grid_dim=(blocks, blocks, side),
        block_dim=(BLOCK, BLOCK, 1),
    )
    ctx.enqueue_function[march](
        spread_once,
        colours,
        Int32(side),
        pixels,
        Int32(width),
        Int32(height),
        Float32(1),
        Float32(1),
        Float32(1),
        Float32(1),
        Float32(0),
        Float32(0),
        Float32(0),
        Float32(1),
        Float32(1.2),
        Float32(0.02),
        grid_dim=((width + 15) // 16, (height + 15) // 16),
        block_dim=(16, 16),
    )
