#if LITTLE
/* A few copies exceed the static TLS reserve of a process. */
static __thread volatile char small[256];

int static_tls_use(int at) { return small[at]++; }
#else
/* Exceeds the static TLS reserve of a process for libraries loaded later. */
static __thread volatile char large[64 * 1024];

int static_tls_use(int at) { return large[at]++; }
#endif
