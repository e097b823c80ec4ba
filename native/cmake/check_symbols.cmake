# Run by SlangSymbols.cmake: NM, WANTED, DEFINED (a list), CHECKED (written when all is well).

function(symbols result file option)
    execute_process(COMMAND "${NM}" ${option} "${file}" OUTPUT_VARIABLE output RESULT_VARIABLE status ERROR_QUIET)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${NM} ${option} ${file} failed (${status})")
    endif()
    string(REPLACE ";" "," output "${output}")
    string(REPLACE "\n" ";" lines "${output}")
    # The last word of a line is the name; Slang's functions and the resources of slang-rhi are what concerns us.
    list(FILTER lines INCLUDE REGEX " _?_?(slang_|sp[A-Z]|Z[0-9]+sp[A-Z]|ZN4cmrc)[A-Za-z0-9_]*$")
    list(TRANSFORM lines REPLACE "^.* " "")
    list(REMOVE_DUPLICATES lines)
    set(${result} "${lines}" PARENT_SCOPE)
endfunction()

symbols(missing "${WANTED}" --undefined-only)
list(LENGTH missing wanted_count)
foreach(file IN LISTS WANTED DEFINED)
    symbols(defined "${file}" --defined-only)
    list(REMOVE_ITEM missing ${defined})
endforeach()
if(wanted_count EQUAL 0)
    message(FATAL_ERROR "${WANTED} uses nothing of Slang: is it slang-rhi's archive?")
endif()
if(missing)
    list(JOIN missing "\n  " names)
    message(FATAL_ERROR
        "slang-rhi's archive ${WANTED} uses functions of Slang that native/replay does not define:\n  ${names}\n"
        "Define them there (slang.h says what they answer), or say in unanswered.cpp that no layout holds their answer.")
endif()
file(WRITE "${CHECKED}" "${wanted_count}\n")
