#error "a chorus header reached <cuda_runtime.h>"
