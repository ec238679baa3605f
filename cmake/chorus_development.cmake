# What only the project's own programs need: warnings, optional packages, a compiler cache. Users never come here.

option(CHORUS_WARNINGS_AS_ERRORS "Warnings in tests, examples and benchmarks are errors" ${PROJECT_IS_TOP_LEVEL})

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(CHORUS_CCACHE ccache)
    if(CHORUS_CCACHE)
        set(CMAKE_CXX_COMPILER_LAUNCHER ${CHORUS_CCACHE})
    endif()
endif()

# The program `name` from `ARGN`, compiled as strictly as users might compile it.
function(chorus_add_program name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE chorus::chorus)
    chorus_compile_strictly(${name})
endfunction()

function(chorus_compile_strictly target)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
                                             $<$<BOOL:${CHORUS_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()

# Sets `found` to whether all of the given "package:debian-package" pairs are there; says what is left out where one is not.
macro(chorus_find_packages found what)
    set(${found} TRUE)
    foreach(pair ${ARGN})
        string(REPLACE ":" ";" pair ${pair})
        list(GET pair 0 package)
        list(GET pair 1 debian_package)
        find_package(${package} QUIET)
        if(NOT ${package}_FOUND)
            message(STATUS "chorus: ${what} left out: ${package} was not found (Debian: apt-get install ${debian_package})")
            set(${found} FALSE)
        endif()
    endforeach()
endmacro()
