// How the flat surface says what went wrong: a status, and on the failing thread a text.
#pragma once

#include "dgpu.h"

#include <stdexcept>
#include <string>

namespace dream::host
{

// Thrown inside, turned into a status at the surface. `what()` is the detail for people.
class Failure : public std::runtime_error
{
public:
    Failure(DgpuStatus status, const std::string& detail)
        : std::runtime_error(detail)
        , status_(status)
    {
    }

    [[nodiscard]] DgpuStatus status() const noexcept { return status_; }

private:
    DgpuStatus status_;
};

// Makes `status` and `detail` what dgpu_last_status and dgpu_last_error give on this thread.
void remember(DgpuStatus status, const std::string& detail) noexcept;

} // namespace dream::host
