# What a user builds who has obtained chorus: CONSUMER_PROGRAMS are SOURCE_STANDARD, such as tiny_20 or mpi_23. One that is
# named after a component links that; the others link chorus::chorus alone.
set(CONSUMER_PROGRAMS "tiny_20" CACHE STRING "")
foreach(program IN LISTS CONSUMER_PROGRAMS)
    string(REPLACE "_" ";" parts ${program})
    list(GET parts 0 source)
    list(GET parts 1 standard)
    add_executable(${program} ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp)
    if(NOT standard EQUAL 20)  # the target asks for 20 by itself
        set_target_properties(${program} PROPERTIES CXX_STANDARD ${standard})
    endif()
    set(library chorus::chorus)
    if(source MATCHES "^(mpi|ucx|cuda|nccl)$")
        set(library chorus::${source})
    endif()
    target_link_libraries(${program} PRIVATE ${library})
endforeach()
