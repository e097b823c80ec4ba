// Devices that are open when the process ends.
#pragma once

#include "dgpu.h"

namespace dream::host
{

// Lets `exit` release every object and wait until every device has closed, before the ends of drivers that are loaded by
// now: a driver that ends while its threads, or ours, still use it crashes. Call it when a device of `backend` has opened.
// Under the process's lock.
void close_devices_at_exit(DgpuBackend backend);

} // namespace dream::host
