# The Slang compiler root that SLANG_ROOT names, for all who need its headers.
#
# dream_slang_headers: slang.h, without its warnings, and the digest of it that layouts are stamped with.
include_guard(GLOBAL)

set(SLANG_ROOT "" CACHE PATH "Slang compiler root: include/slang.h, and the compiler's library in lib/ or bin/")
if(NOT SLANG_ROOT)
    message(FATAL_ERROR "SLANG_ROOT: expected the root of a Slang compiler, e.g. -DSLANG_ROOT=/opt/slang")
endif()
set(slang_header "${SLANG_ROOT}/include/slang.h")
if(NOT EXISTS "${slang_header}")
    message(FATAL_ERROR "SLANG_ROOT: expected ${slang_header}, which does not exist")
endif()
file(SHA256 "${slang_header}" slang_header_sha256)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${slang_header}")

add_library(dream_slang_headers INTERFACE)
target_include_directories(dream_slang_headers SYSTEM INTERFACE "${SLANG_ROOT}/include")
target_include_directories(dream_slang_headers INTERFACE "${CMAKE_CURRENT_LIST_DIR}/..")
target_compile_definitions(dream_slang_headers INTERFACE "DREAM_SLANG_HEADER_SHA256=\"${slang_header_sha256}\"")
