#error "a chorus header reached <mpi.h>"
