# CMake downloads nothing here. Whatever a subproject asks FetchContent for must be a file of this machine whose SHA-256
# is stated; anything else ends the configuration, with the name of what was asked for.
#
# A dependency provider (cmake-commands(7), cmake_language) sees each request before FetchContent does; one that returns
# without an answer hands the request on.
include_guard(GLOBAL)

function(dream_local_archives_only method name)
    cmake_parse_arguments(PARSE_ARGV 2 asked "" "URL;URL_HASH" "")
    string(LENGTH "${asked_URL_HASH}" length)
    if(NOT asked_URL MATCHES "^file://" OR NOT asked_URL_HASH MATCHES "^SHA256=[0-9a-fA-F]+$" OR NOT length EQUAL 71)
        message(FATAL_ERROR
            "${name}: expected a file:// URL and its SHA-256, got URL '${asked_URL}' with hash '${asked_URL_HASH}'. "
            "Nothing is downloaded here: `toolchain build native` passes what is pinned.")
    endif()
endfunction()

cmake_language(SET_DEPENDENCY_PROVIDER dream_local_archives_only SUPPORTED_METHODS FETCHCONTENT_MAKEAVAILABLE_SERIAL)
