// The first half of `load`, for those who have a layout and no code.
#pragma once

#include "replay.hpp"
#include "session.hpp"

namespace dream::replay
{

// The nodes of a layout that this host can use: it is whole, of our slang.h, for the session's target.
[[nodiscard]] std::variant<const Arena*, Error> load_layout(Session& session, std::span<const std::byte> bytes);

} // namespace dream::replay
