message(FATAL_ERROR "CUDAToolkit is searched though nobody asked for it")
