#error "a chorus header reached <ucp/api/ucp.h>"
