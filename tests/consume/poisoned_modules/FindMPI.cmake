message(FATAL_ERROR "MPI is searched though nobody asked for it")
