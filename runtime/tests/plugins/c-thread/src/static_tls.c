#if LITTLE
/* A few copies of this are more than a process has to spare. */
static __thread volatile char small[256];

int static_tls_use(int at) { return small[at]++; }
#else
/* More than a process has to spare for those that come later. */
static __thread volatile char large[64 * 1024];

int static_tls_use(int at) { return large[at]++; }
#endif
