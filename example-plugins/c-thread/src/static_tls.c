/* More than a process has to spare for those that come later. */
static __thread volatile char large[64 * 1024];

int static_tls_use(int at) { return large[at]++; }
