#error "a chorus header reached <nccl.h>"
