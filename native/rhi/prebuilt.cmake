# A static library of a released wheel, used as it is.
set(rhi_archive "${SLANG_ROOT}/lib/libslang-rhi.a")
set(rhi_config "${SLANG_ROOT}/include/slang-rhi-config.h")
foreach(file IN ITEMS "${rhi_archive}" "${rhi_config}")
    if(NOT EXISTS "${file}")
        message(FATAL_ERROR
            "profile prebuilt: expected ${file}, which does not exist. Not every platform's wheel has slang-rhi; "
            "the profile source builds it.")
    endif()
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${rhi_config}")

set(rhi_has)
foreach(backend name IN ZIP_LISTS rhi_backends rhi_names)
    file(STRINGS "${rhi_config}" enabled REGEX "^#define SLANG_RHI_ENABLE_${name} 1")
    if(enabled)
        list(APPEND rhi_has ${backend})
    endif()
endforeach()
foreach(backend IN LISTS DREAM_BACKENDS)
    if(NOT backend IN_LIST rhi_has)
        message(FATAL_ERROR "DREAM_BACKENDS: the prebuilt slang-rhi has ${rhi_has}, not ${backend}; profile source builds it")
    endif()
endforeach()

if(DREAM_BACKENDS)
    set(rhi_has "${DREAM_BACKENDS}")
endif()

find_package(Threads REQUIRED)
include(CheckCXXSourceCompiles)
check_cxx_source_compiles([[
    extern "C" void _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm();
    int main()
    {
        auto* volatile there = &_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm;
        return there == nullptr;
    }
]] DREAM_LIBSTDCXX_HAS_REPLACE_COLD)

add_library(dream_rhi_compat STATIC resources.cpp)
if(NOT DREAM_LIBSTDCXX_HAS_REPLACE_COLD)
    target_sources(dream_rhi_compat PRIVATE replace_cold.cpp)
endif()
target_link_libraries(dream_rhi_compat PRIVATE dream_warnings)
set_target_properties(dream_rhi_compat PROPERTIES POSITION_INDEPENDENT_CODE ON)

set(rhi_includes "${SLANG_ROOT}/include")
if(NOT EXISTS "${SLANG_ROOT}/include/slang-com-ptr.h")
    list(APPEND rhi_includes "${CMAKE_CURRENT_SOURCE_DIR}/include")
endif()

add_library(slang-rhi STATIC IMPORTED GLOBAL)
set_target_properties(slang-rhi PROPERTIES
    IMPORTED_LOCATION "${rhi_archive}"
    IMPORTED_LINK_INTERFACE_LANGUAGES CXX
    INTERFACE_INCLUDE_DIRECTORIES "${rhi_includes}"
    INTERFACE_LINK_LIBRARIES "dream_rhi_compat;slang;Threads::Threads;${CMAKE_DL_LIBS}"
    DREAM_BACKENDS "${rhi_has}"
    DREAM_COMPANIONS "")

set(rhi_file "${rhi_archive}")
set(rhi_definers slang dream_rhi_compat)
