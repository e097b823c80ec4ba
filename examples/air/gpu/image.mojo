"""What the three GPU modules share: an image in device memory, and a little colour arithmetic."""


@fieldwise_init
struct Image(TrivialRegisterPassable):
    """A picture of four floats a pixel, in device memory."""

    var pixels: Pointer[Float32, MutUntrackedOrigin]
    var width: Int
    var height: Int

    @always_inline
    def clamped(self, x: Int, y: Int, channel: Int) -> Float32:
        """A channel of the pixel nearest to x, y that is inside."""
        var column = min(max(x, 0), self.width - 1)
        var row = min(max(y, 0), self.height - 1)
        return self.pixels[unsafe_offset=(row * self.width + column) * 4 + channel]

    @always_inline
    def put(self, x: Int, y: Int, channel: Int, value: Float32):
        """Set a channel of a pixel that is inside."""
        self.pixels[unsafe_offset=(y * self.width + x) * 4 + channel] = value


@always_inline
def luminance(red: Float32, green: Float32, blue: Float32) -> Float32:
    """Relative luminance of linear sRGB (ITU-R BT.709)."""
    return red * 0.2126 + green * 0.7152 + blue * 0.0722
