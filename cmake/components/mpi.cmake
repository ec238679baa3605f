# <chorus/transport/mpi.hpp>
set(wants "MPI 3.1 or newer for C++")
set(install "Debian: apt-get install libopenmpi-dev, or libmpich-dev; vcpkg: vcpkg install chorus[mpi]; Conan: -o chorus/*:with_mpi=True; elsewhere: -DMPI_CXX_COMPILER=/path/to/mpicxx")
find_package(MPI 3.1 QUIET COMPONENTS CXX)
set(found ${MPI_CXX_FOUND})
set(libraries MPI::MPI_CXX)
