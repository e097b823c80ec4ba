# dream_check_slang_symbols(NAME WANTED DEFINERS...): fails the build, with the names, where the archive WANTED (a file)
# uses functions of Slang that no archive of the targets DEFINERS defines. A newer slang-rhi that asks for more is so
# told at once, and not by a linker at the end.
function(dream_check_slang_symbols name wanted)
    set(defined "")
    foreach(target IN LISTS ARGN)
        list(APPEND defined "$<TARGET_FILE:${target}>")
    endforeach()
    set(checked "${CMAKE_CURRENT_BINARY_DIR}/${name}.checked")
    set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check_symbols.cmake")
    add_custom_command(
        OUTPUT "${checked}"
        COMMAND ${CMAKE_COMMAND} "-DNM=${CMAKE_NM}" "-DWANTED=${wanted}" "-DDEFINED=${defined}" "-DCHECKED=${checked}"
            -P "${script}"
        DEPENDS "${wanted}" ${ARGN} "${script}"
        COMMENT "Comparing what slang-rhi uses of Slang with what replay defines"
        VERBATIM)
    add_custom_target(${name} ALL DEPENDS "${checked}")
endfunction()
