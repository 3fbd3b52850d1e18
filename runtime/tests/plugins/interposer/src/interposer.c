#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Thread creation as in a crash handler that gives each thread a signal stack: counts, then calls the platform's function. */

static unsigned threads;

unsigned interposer_threads(void) { return __atomic_load_n(&threads, __ATOMIC_SEQ_CST); }

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  typedef int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  create platforms = (create)dlsym(RTLD_NEXT, "pthread_create");
  __atomic_add_fetch(&threads, 1, __ATOMIC_SEQ_CST);
  return platforms(thread, attributes, start, argument);
}

/* Separate heap, as in an allocator that replaces the C heap. Rejects blocks of other heaps. */

#define REGION ((size_t)1 << 20)
#define OWN 0x616c6365646f3031u

struct header {
  uint64_t mark;
  size_t len;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *next;
static size_t left;
static unsigned blocks;

unsigned interposer_blocks(void) { return __atomic_load_n(&blocks, __ATOMIC_SEQ_CST); }

static void *take(size_t len, size_t alignment) {
  pthread_mutex_lock(&lock);
  size_t room = len + alignment + sizeof(struct header);
  if (room > left) {
    size_t region = room > REGION ? room : REGION;
    void *mapped = mmap(NULL, region, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      pthread_mutex_unlock(&lock);
      errno = ENOMEM;
      return NULL;
    }
    next = mapped;
    left = region;
  }
  uintptr_t block = ((uintptr_t)next + sizeof(struct header) + alignment - 1) & ~(uintptr_t)(alignment - 1);
  size_t used = block + len - (uintptr_t)next;
  used = (used + 15) & ~(size_t)15;
  used = used > left ? left : used;
  next += used;
  left -= used;
  pthread_mutex_unlock(&lock);
  struct header *header = (struct header *)block - 1;
  header->mark = OWN;
  header->len = len;
  __atomic_add_fetch(&blocks, 1, __ATOMIC_SEQ_CST);
  return (void *)block;
}

static struct header *header_of(void *block) {
  struct header *header = (struct header *)block - 1;
  if (header->mark != OWN)
    abort();
  return header;
}

void *malloc(size_t len) { return take(len, 16); }

void free(void *block) {
  if (block == NULL)
    return;
  header_of(block)->mark = 0;
  __atomic_sub_fetch(&blocks, 1, __ATOMIC_SEQ_CST);
}

void *calloc(size_t count, size_t len) {
  size_t all;
  if (__builtin_mul_overflow(count, len, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  void *block = take(all, 16);
  return block == NULL ? NULL : memset(block, 0, all);
}

void *realloc(void *block, size_t len) {
  if (block == NULL)
    return malloc(len);
  size_t before = header_of(block)->len;
  void *moved = malloc(len);
  if (moved == NULL)
    return NULL;
  memcpy(moved, block, before < len ? before : len);
  free(block);
  return moved;
}

void *reallocarray(void *block, size_t count, size_t len) {
  size_t all;
  if (__builtin_mul_overflow(count, len, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(block, all);
}

int posix_memalign(void **place, size_t alignment, size_t len) {
  void *block = take(len, alignment < 16 ? 16 : alignment);
  if (block == NULL)
    return ENOMEM;
  *place = block;
  return 0;
}
