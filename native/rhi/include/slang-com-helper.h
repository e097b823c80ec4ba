// The three names of Slang's header of this name that slang-rhi's headers use; see slang-com-ptr.h.
#ifndef SLANG_COM_HELPER_H
#define SLANG_COM_HELPER_H

#include <slang.h>

namespace Slang
{
using Guid = SlangUUID;
}

#define SLANG_RETURN_ON_FAIL(call) \
    do \
    { \
        const SlangResult result_of_call = (call); \
        if (SLANG_FAILED(result_of_call)) \
            return result_of_call; \
    } while (false)

#define SLANG_RETURN_NULL_ON_FAIL(call) \
    do \
    { \
        if (SLANG_FAILED(call)) \
            return nullptr; \
    } while (false)

#endif
