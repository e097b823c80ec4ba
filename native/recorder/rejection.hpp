#pragma once

#include <stdexcept>

namespace dream::recorder
{

// Why there is no layout. The text is for a person: one or more whole lines.
class Rejection : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

} // namespace dream::recorder
