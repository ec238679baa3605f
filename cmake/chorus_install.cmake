include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(chorus_package_directory ${CMAKE_INSTALL_DATADIR}/cmake/chorus)

install(TARGETS chorus EXPORT chorus-targets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT chorus-targets NAMESPACE chorus:: DESTINATION ${chorus_package_directory})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/chorus-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/chorus-config.cmake
                              INSTALL_DESTINATION ${chorus_package_directory}
                              NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may break users. Headers fit every word size.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/chorus-config-version.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/chorus-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/chorus-config-version.cmake
        DESTINATION ${chorus_package_directory})
