# Upstream's own build, as a subproject. What it would download comes as SLANG_RHI_<NAME>_URL (file://) with
# SLANG_RHI_<NAME>_URL_HASH; cmake/LocalArchivesOnly.cmake refuses anything else.
set(DREAM_RHI_SOURCE "" CACHE PATH "slang-rhi's source tree, with patches/slang-rhi applied")
if(NOT EXISTS "${DREAM_RHI_SOURCE}/CMakeLists.txt")
    message(FATAL_ERROR "profile source: expected slang-rhi's source tree in DREAM_RHI_SOURCE, got '${DREAM_RHI_SOURCE}'")
endif()
if(NOT DREAM_BACKENDS)
    message(FATAL_ERROR "profile source: expected DREAM_BACKENDS, e.g. -DDREAM_BACKENDS=vulkan")
endif()

# Upstream keeps these in the cache, where an earlier configuration's values would win over plain variables.
function(rhi_set type)
    foreach(assignment IN LISTS ARGN)
        string(REGEX MATCH "^([^=]+)=(.*)$" parts "${assignment}")
        set(SLANG_RHI_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" CACHE ${type} "set by rhi/source.cmake" FORCE)
    endforeach()
endfunction()

rhi_set(BOOL BUILD_SHARED=OFF BUILD_TESTS=OFF BUILD_TESTS_WITH_GLFW=OFF BUILD_EXAMPLES=OFF INSTALL=OFF
    FETCH_SLANG=OFF FETCH_DXC=OFF ENABLE_CPU=OFF ENABLE_AGILITY_SDK=OFF ENABLE_NVAPI=OFF ENABLE_OPTIX=OFF
    ENABLE_AFTERMATH=OFF)
foreach(backend name IN ZIP_LISTS rhi_backends rhi_names)
    if(backend IN_LIST DREAM_BACKENDS)
        rhi_set(BOOL ENABLE_${name}=ON)
    else()
        rhi_set(BOOL ENABLE_${name}=OFF)
    endif()
endforeach()
rhi_set(PATH "SLANG_INCLUDE_DIR=${SLANG_ROOT}/include")

set(SLANG_RHI_BUILD_FROM_SLANG_REPO ON) # the target `slang` is ours
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_subdirectory("${DREAM_RHI_SOURCE}" slang-rhi EXCLUDE_FROM_ALL SYSTEM)
if(NOT DREAM_WARNINGS_AS_ERRORS)
    set_property(TARGET slang-rhi-warnings-as-errors PROPERTY INTERFACE_COMPILE_OPTIONS "")
endif()

# Upstream enables a backend only where the platform has it, and says nothing where it has not.
foreach(backend name IN ZIP_LISTS rhi_backends rhi_names)
    if(backend IN_LIST DREAM_BACKENDS AND NOT SLANG_RHI_ENABLE_${name})
        message(FATAL_ERROR "DREAM_BACKENDS: slang-rhi has no ${backend} on ${CMAKE_SYSTEM_NAME}")
    endif()
endforeach()

find_package(Threads REQUIRED)
target_link_libraries(slang-rhi INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

set(rhi_companions)
if("webgpu" IN_LIST DREAM_BACKENDS)
    include(FetchContent)
    FetchContent_GetProperties(dawn SOURCE_DIR dawn_root)
    set(dawn_windows bin/dawn.dll)
    set(dawn_linux lib64/libdawn.so)
    set(dawn_darwin lib/libdawn.dylib)
    string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
    list(APPEND rhi_companions "${dawn_root}/${dawn_${system}}")
endif()
if("d3d12" IN_LIST DREAM_BACKENDS)
    include(FetchContent)
    FetchContent_GetProperties(winpix SOURCE_DIR winpix_root)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "ARM64|aarch64")
        list(APPEND rhi_companions "${winpix_root}/bin/arm64/WinPixEventRuntime.dll")
    else()
        list(APPEND rhi_companions "${winpix_root}/bin/x64/WinPixEventRuntime.dll")
    endif()
endif()
set_target_properties(slang-rhi PROPERTIES DREAM_BACKENDS "${DREAM_BACKENDS}" DREAM_COMPANIONS "${rhi_companions}")

set(rhi_file "$<TARGET_FILE:slang-rhi>")
set(rhi_definers slang slang-rhi-resources)
