// What the prebuilt slang-rhi asks for and does not bring: the files that upstream's build embeds in it.
//
// The archive leaves cmrc::resources::get_filesystem() undefined (slangpy 0.43.1). Only a CUDA device calls it, while it
// is being made, for the source of a kernel. Upstream's answer for a file that is not there is an exception out of the
// device's creation; so is ours, with a sentence that helps. Never returning, this needs none of cmrc's own types.
// Remove when the pinned wheel defines the function.
#include <stdexcept>

namespace cmrc::resources
{
[[noreturn]] void get_filesystem();

void get_filesystem()
{
    throw std::runtime_error("the prebuilt slang-rhi lacks the kernels that a CUDA device needs; "
                             "`toolchain build native --profile source` builds one that has them");
}
} // namespace cmrc::resources
