include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(CHORUS_INSTALL_CMAKEDIR ${CMAKE_INSTALL_DATADIR}/cmake/chorus CACHE STRING "Where the CMake package is installed, below the prefix")
mark_as_advanced(CHORUS_INSTALL_CMAKEDIR)

install(TARGETS chorus EXPORT chorus-targets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT chorus-targets NAMESPACE chorus:: DESTINATION ${CHORUS_INSTALL_CMAKEDIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/chorus-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/chorus-config.cmake
                              INSTALL_DESTINATION ${CHORUS_INSTALL_CMAKEDIR}
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a new minor version may break users. Headers fit every word size.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/chorus-config-version.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/chorus-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/chorus-config-version.cmake
              ${CMAKE_CURRENT_LIST_DIR}/chorus_components.cmake
        DESTINATION ${CHORUS_INSTALL_CMAKEDIR})
install(DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/components DESTINATION ${CHORUS_INSTALL_CMAKEDIR} FILES_MATCHING PATTERN "*.cmake")

# For pkg-config: no absolute path, so that the tree may be moved.
set(chorus_pkgconfig_directory ${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig)
file(RELATIVE_PATH prefix_from_pkgconfig ${chorus_pkgconfig_directory} ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH include_from_pkgconfig ${chorus_pkgconfig_directory} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
foreach(module chorus chorus-mpi chorus-ucx chorus-cuda chorus-nccl)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/pkgconfig/${module}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${module}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${module}.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
endforeach()
