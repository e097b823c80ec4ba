#pragma once

namespace dream::recorder
{

// From here on, a crash (the compiler's, mostly: it asserts by crashing) ends the process with exit code 3 and a
// sentence, where the system lets us; otherwise as it always does.
void explain_crashes();

} // namespace dream::recorder
