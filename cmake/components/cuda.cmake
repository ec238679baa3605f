# <chorus/cuda/….cuh>
set(wants "the CUDA toolkit 12.0 or newer")
set(install "Debian: apt-get install nvidia-cuda-toolkit, or cuda-toolkit from NVIDIA's packages; vcpkg: vcpkg install chorus[cuda]; elsewhere: -DCUDAToolkit_ROOT=/usr/local/cuda")
find_package(CUDAToolkit 12.0 QUIET)
set(found ${CUDAToolkit_FOUND})
set(libraries CUDA::cudart)
if("cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
    set(features cuda_std_20)
elseif(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")  # CMake before 3.26 does not know that nvcc has C++20
    set(options $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
endif()
list(APPEND options $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--expt-relaxed-constexpr>)  # kernels call constexpr functions of the host part
