# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
# conan create . --build=missing runs this on the package: nothing but find_package and the targets.
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class TestChorus(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def components(self):
        options = self.dependencies["chorus"].options
        return [component for component in ("mpi", "ucx", "cuda", "nccl") if options.get_safe(f"with_{component}")]

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["CONSUMER_COMPONENTS"] = ";".join(self.components())
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            for program in ("consumer", *self.components()):
                self.run(os.path.join(self.cpp.build.bindir, program), env="conanrun")
