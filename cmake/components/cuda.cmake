# <chorus/cuda/….cuh>
set(wants "the CUDA toolkit 12.0 or newer")
set(install "Debian: apt-get install nvidia-cuda-toolkit, or cuda-toolkit from NVIDIA's packages; vcpkg: vcpkg install chorus[cuda]; elsewhere: -DCUDAToolkit_ROOT=/usr/local/cuda")
find_package(CUDAToolkit 12.0 QUIET)
set(found ${CUDAToolkit_FOUND})
set(libraries CUDA::cudart)
if(CMAKE_CUDA_COMPILER)
    set(features cuda_std_20)
    set(options $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--expt-relaxed-constexpr>)  # kernels call constexpr functions of the host part
endif()
