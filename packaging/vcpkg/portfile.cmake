set(VCPKG_BUILD_TYPE release)  # headers have no debug build

# In a clone of the project the working tree is installed: vcpkg install chorus --overlay-ports=packaging/vcpkg
# Where this folder stands alone, as in a registry of ports, it is the release of this version. tools/release keeps REPO and SHA512.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
if(NOT EXISTS "${SOURCE_PATH}/include/chorus/version.hpp")
    vcpkg_from_github(OUT_SOURCE_PATH SOURCE_PATH
                      REPO chorus-authors/chorus
                      REF "v${VERSION}"
                      SHA512 0
                      HEAD_REF main)
endif()

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
                      OPTIONS -DCHORUS_BUILD_PROGRAMS=OFF -DCHORUS_INSTALL_CMAKEDIR=share/chorus)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup()
vcpkg_fixup_pkgconfig(SKIP_CHECK)  # a module whose feature was not asked for may want what is not installed
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
