// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

// chorus/transport/mpi.hpp with every MPI function that it calls below the profiling layer: what chorus itself asks of MPI is neither carried by chorus nor
// seen by other tools on that layer. tests/preload checks that the library refers to no MPI function by its upper name.

#include <mpi.h>

#define MPI_Allgather PMPI_Allgather
#define MPI_Cancel PMPI_Cancel
#define MPI_Comm_create_group PMPI_Comm_create_group
#define MPI_Comm_create_keyval PMPI_Comm_create_keyval
#define MPI_Comm_delete_attr PMPI_Comm_delete_attr
#define MPI_Comm_dup PMPI_Comm_dup
#define MPI_Comm_free PMPI_Comm_free
#define MPI_Comm_free_keyval PMPI_Comm_free_keyval
#define MPI_Comm_get_attr PMPI_Comm_get_attr
#define MPI_Comm_group PMPI_Comm_group
#define MPI_Comm_rank PMPI_Comm_rank
#define MPI_Comm_set_attr PMPI_Comm_set_attr
#define MPI_Comm_set_errhandler PMPI_Comm_set_errhandler
#define MPI_Comm_size PMPI_Comm_size
#define MPI_Comm_test_inter PMPI_Comm_test_inter
#define MPI_Error_string PMPI_Error_string
#define MPI_Finalize PMPI_Finalize
#define MPI_Finalized PMPI_Finalized
#define MPI_Get_count PMPI_Get_count
#define MPI_Get_library_version PMPI_Get_library_version
#define MPI_Group_free PMPI_Group_free
#define MPI_Group_incl PMPI_Group_incl
#define MPI_Iallgather PMPI_Iallgather
#define MPI_Iallgatherv PMPI_Iallgatherv
#define MPI_Iallreduce PMPI_Iallreduce
#define MPI_Ialltoall PMPI_Ialltoall
#define MPI_Ialltoallv PMPI_Ialltoallv
#define MPI_Ibarrier PMPI_Ibarrier
#define MPI_Ibcast PMPI_Ibcast
#define MPI_Iexscan PMPI_Iexscan
#define MPI_Igather PMPI_Igather
#define MPI_Igatherv PMPI_Igatherv
#define MPI_Init_thread PMPI_Init_thread
#define MPI_Initialized PMPI_Initialized
#define MPI_Irecv PMPI_Irecv
#define MPI_Ireduce PMPI_Ireduce
#define MPI_Ireduce_scatter PMPI_Ireduce_scatter
#define MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block
#define MPI_Is_thread_main PMPI_Is_thread_main
#define MPI_Iscan PMPI_Iscan
#define MPI_Iscatter PMPI_Iscatter
#define MPI_Iscatterv PMPI_Iscatterv
#define MPI_Isend PMPI_Isend
#define MPI_Query_thread PMPI_Query_thread
#define MPI_Recv_init PMPI_Recv_init
#define MPI_Request_free PMPI_Request_free
#define MPI_Start PMPI_Start
#define MPI_Test PMPI_Test
#define MPI_Test_cancelled PMPI_Test_cancelled
#define MPI_Type_commit PMPI_Type_commit
#define MPI_Type_contiguous PMPI_Type_contiguous
#define MPI_Type_free PMPI_Type_free
#include "chorus/transport/mpi.hpp"
#undef MPI_Allgather
#undef MPI_Cancel
#undef MPI_Comm_create_group
#undef MPI_Comm_create_keyval
#undef MPI_Comm_delete_attr
#undef MPI_Comm_dup
#undef MPI_Comm_free
#undef MPI_Comm_free_keyval
#undef MPI_Comm_get_attr
#undef MPI_Comm_group
#undef MPI_Comm_rank
#undef MPI_Comm_set_attr
#undef MPI_Comm_set_errhandler
#undef MPI_Comm_size
#undef MPI_Comm_test_inter
#undef MPI_Error_string
#undef MPI_Finalize
#undef MPI_Finalized
#undef MPI_Get_count
#undef MPI_Get_library_version
#undef MPI_Group_free
#undef MPI_Group_incl
#undef MPI_Iallgather
#undef MPI_Iallgatherv
#undef MPI_Iallreduce
#undef MPI_Ialltoall
#undef MPI_Ialltoallv
#undef MPI_Ibarrier
#undef MPI_Ibcast
#undef MPI_Iexscan
#undef MPI_Igather
#undef MPI_Igatherv
#undef MPI_Init_thread
#undef MPI_Initialized
#undef MPI_Irecv
#undef MPI_Ireduce
#undef MPI_Ireduce_scatter
#undef MPI_Ireduce_scatter_block
#undef MPI_Is_thread_main
#undef MPI_Iscan
#undef MPI_Iscatter
#undef MPI_Iscatterv
#undef MPI_Isend
#undef MPI_Query_thread
#undef MPI_Recv_init
#undef MPI_Request_free
#undef MPI_Start
#undef MPI_Test
#undef MPI_Test_cancelled
#undef MPI_Type_commit
#undef MPI_Type_contiguous
#undef MPI_Type_free
