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

// The command line cannot be obeyed, whatever the program is.
class WrongCommandLine : public Rejection
{
public:
    using Rejection::Rejection;
};

} // namespace dream::recorder
