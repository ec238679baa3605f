# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy


class Chorus(ConanFile):
    name = "chorus"
    version = "0.1.0"
    description = "Collective communication, header-only, in C++20"
    license = "MIT"
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain"
    exports_sources = "CMakeLists.txt", "cmake/*", "include/*", "LICENSE"
    no_copy_source = True

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def package_id(self):
        self.info.clear()

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={f"CHORUS_BUILD_{part}": False for part in ("TESTS", "EXAMPLES", "BENCH")})

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package brings its own
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "chorus")]
