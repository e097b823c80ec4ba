// Devices that are open when the process ends, or forks.
#pragma once

#include "dgpu.h"

namespace dream::host
{

// Lets `exit` release every object and wait until every device has closed, before the ends of drivers that are loaded by
// now: a driver that ends while its threads, or ours, still use it crashes. Call it when a device of `backend` has opened.
// Under the process's lock.
void close_devices_at_exit(DgpuBackend backend);

// Whether this process was forked from one that had opened a device: its drivers' threads are in the other alone, and
// whoever waits for them waits for ever.
[[nodiscard]] bool is_forked();

// Throws Failure(DGPU_EUNAVAILABLE) then.
void require_not_forked();

} // namespace dream::host
