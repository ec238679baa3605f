# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy
from conan.tools.system.package_manager import Apt


class Chorus(ConanFile):
    name = "chorus"
    version = "0.1.0"
    description = "Collective communication, header-only, in C++20"
    license = "MIT"
    topics = ("collective-communication", "mpi", "ucx", "distributed-training", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    # What a consumer is going to ask for by find_package(chorus COMPONENTS …). The package is the same with all of them and with none.
    options = {f"with_{component}": [True, False] for component in ("mpi", "ucx", "cuda", "nccl")}
    default_options = {option: False for option in options}
    generators = "CMakeToolchain"
    exports_sources = "CMakeLists.txt", "cmake/*", "include/*", "LICENSE"
    no_copy_source = True
    test_package_folder = "packaging/conan_test"

    def system_requirements(self):
        """Of the system, since ranks must share the launcher's MPI and the driver's UCX; CUDA and NCCL come from NVIDIA, not from apt."""
        apt = Apt(self)
        if self.options.with_mpi:
            apt.install_substitutes(["libopenmpi-dev"], ["libmpich-dev"])
        if self.options.with_ucx:
            apt.install(["libucx-dev"], check=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def package_id(self):
        self.info.clear()

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={"CHORUS_BUILD_PROGRAMS": False})

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        if self.settings.get_safe("os") == "Linux":
            self.cpp_info.system_libs = ["pthread"]
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package brings its own
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "chorus")]
