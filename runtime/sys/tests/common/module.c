#define _GNU_SOURCE
/* Handwritten module. It creates each resource through the functions of a table, as the hooks of a plugin do. */
#include <errno.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct hooks {
    int (*thread_atexit)(const void *, void (*)(void *), void *, void *);
    int (*key_create)(const void *, unsigned *, void (*)(void *));
    int (*key_delete)(const void *, unsigned);
    int (*key_set)(const void *, unsigned, const void *);
    int (*thread_create)(const void *, size_t *, const void *, void *(*)(void *), void *);
    int (*thread_join)(const void *, size_t, void **);
    int (*thread_detach)(const void *, size_t);
    int (*signal_action)(const void *, int, const void *, void *);
    size_t (*signal)(const void *, int, size_t);
    int (*at_exit)(const void *, void (*)(void *), void *, void *);
    int (*on_exit)(const void *, void (*)(int, void *), void *);
};
static const struct hooks *hooks;
static const void *image;
void attach(const struct hooks *table, const void *word) { hooks = table; image = word; }

/* Record that the test reads. The record outlives the module. */
struct seen {
    atomic_long run, wrong_thread, order;
    atomic_int go, arrived;
    int fd, mode;
    /* Function of the host. */
    void (*host)(int);
};

/* Object of a destructor, with the id of the thread on which the destructor must run. */
struct owed { struct seen *seen; long thread; int again; };
static void pay(void *object) {
    struct owed *owed = object;
    atomic_fetch_add(&owed->seen->run, 1);
    if (owed->thread != syscall(SYS_gettid)) atomic_fetch_add(&owed->seen->wrong_thread, 1);
    if (owed->again-- > 0) hooks->thread_atexit(image, pay, owed, 0);
    else free(owed);
}
void owe(struct seen *seen, int again) {
    struct owed *owed = malloc(sizeof *owed);
    *owed = (struct owed){ seen, syscall(SYS_gettid), again };
    hooks->thread_atexit(image, pay, owed, 0);
}
/* Records the order of destructors as decimal digits. */
static struct seen *ordered;
static void note(void *digit) { atomic_store(&ordered->order, atomic_load(&ordered->order) * 10 + (long)digit); }
void owe_in_order(struct seen *seen, long digit) { ordered = seen; hooks->thread_atexit(image, note, (void *)digit, 0); }
static unsigned key;
void make_key(void) { hooks->key_create(image, &key, note); }
void set_key(struct seen *seen, long digit) { ordered = seen; hooks->key_set(image, key, (void *)digit); }
long get_key(void) { return (long)pthread_getspecific(key); }
void delete_key(void) { hooks->key_delete(image, key); }
static void slow(void *object) {
    struct seen *seen = object;
    atomic_store(&seen->arrived, 1);
    while (!atomic_load(&seen->go)) usleep(200);
    atomic_fetch_add(&seen->run, 1);
}
static void call_host(void *object) {
    struct seen *seen = object;
    seen->host(seen->fd);
    atomic_fetch_add(&seen->run, 1);
}
void owe_host(struct seen *seen) { hooks->thread_atexit(image, call_host, seen, 0); }
void owe_slowly(struct seen *seen) { hooks->thread_atexit(image, slow, seen, 0); }

/* Threads. */
enum { UNTIL_GO, AT_ONCE, BY_EXIT, IN_READ, IN_FUTEX, IN_SPIN, IN_SLEEP, IN_COND, IN_HOST, IN_FILE, IN_SEM, IN_TIMED_SEM, IN_BLOCKED };
static void wait_in_cond(struct seen *seen) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    while (!atomic_load(&seen->go)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000;
        if (until.tv_nsec >= 1000000000) { until.tv_nsec -= 1000000000; until.tv_sec++; }
        pthread_cond_timedwait(&cond, &mutex, &until);
    }
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&cond);
}
static void wait_in_sem(int until) {
    struct timespec late = { .tv_sec = 1L << 40 };
    sem_t sem;
    sem_init(&sem, 0, 0);
    for (;;) until ? sem_timedwait(&sem, &late) : sem_wait(&sem);
}
static void *thread(void *object) {
    struct seen *seen = object;
    char byte;
    owe(seen, 1);
    atomic_fetch_add(&seen->arrived, 1);
    switch (seen->mode) {
    case UNTIL_GO: while (!atomic_load(&seen->go)) usleep(200); break;
    case AT_ONCE: break;
    case BY_EXIT: pthread_exit(0);
    case IN_READ: while (read(seen->fd, &byte, 1) != 1 || 1) { } break;
    case IN_FUTEX: for (;;) { int word = 0; syscall(SYS_futex, &word, 0, 0, 0, 0, 0); } break;
    case IN_SPIN: while (!atomic_load(&seen->go)) { } break;
    case IN_SLEEP: for (;;) sleep(1000); break;
    case IN_COND: wait_in_cond(seen); break;
    case IN_HOST: seen->host(seen->fd); break;
    case IN_SEM: wait_in_sem(0); break;
    case IN_TIMED_SEM: wait_in_sem(1); break;
    case IN_BLOCKED: {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, 0);
        atomic_fetch_add(&seen->arrived, 1);
        while (read(seen->fd, &byte, 1) != 1) { }
        break;
    }
    case IN_FILE: {
        FILE *file = fdopen(dup(seen->fd), "r");
        while (fgetc(file) == EOF) clearerr(file);
        fclose(file);
        break;
    }
    }
    return (void *)42;
}
static size_t last;
int start(struct seen *seen, int detached) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (detached) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int result = hooks->thread_create(image, &last, detached ? &attributes : 0, thread, seen);
    pthread_attr_destroy(&attributes);
    return result;
}
long join(void) { void *result = 0; return hooks->thread_join(image, last, &result) ? -1 : (long)result; }
int detach(void) { return hooks->thread_detach(image, last); }
/* Room for the stack of a thread, in the image itself. */
static char room[1 << 16] __attribute__((aligned(4096)));
void *room_for_stack(void) { return room; }
/* Starts a thread on a stack that the module provides. */
int start_on(struct seen *seen, void *stack, size_t len, int detached) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, len);
    if (detached) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int result = hooks->thread_create(image, &last, &attributes, thread, seen);
    pthread_attr_destroy(&attributes);
    return result;
}

/* Signals. */
static struct seen *signaled;
static struct sigaction before;
static void count(int number) { (void)number; errno = 4711; atomic_fetch_add(&signaled->run, 1); }
static void linger(int number) {
    (void)number;
    atomic_store(&signaled->arrived, 1);
    while (!atomic_load(&signaled->go)) usleep(200);
    atomic_fetch_add(&signaled->run, 1);
}
static void pass_on(int number, siginfo_t *info, void *context) {
    atomic_fetch_add(&signaled->run, 1);
    if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) before.sa_handler(number);
}
/* Sets the action `how`: 0 counts, 1 lingers, 2 passes on, 3 counts once, 4 default, 5 ignore. Returns the previous handler. */
size_t handle(struct seen *seen, int number, int how) {
    struct sigaction action = { 0 };
    signaled = seen;
    switch (how) {
    case 0: action.sa_handler = count; break;
    case 1: action.sa_handler = linger; break;
    case 2: action.sa_sigaction = pass_on; action.sa_flags = SA_SIGINFO; break;
    case 3: action.sa_handler = count; action.sa_flags = SA_RESETHAND; break;
    case 4: action.sa_handler = SIG_DFL; break;
    case 5: action.sa_handler = SIG_IGN; break;
    }
    if (hooks->signal_action(image, number, &action, &before)) return -2;
    return (size_t)before.sa_handler;
}
size_t put_back(int number) { return hooks->signal_action(image, number, &before, 0); }
size_t handle_simply(struct seen *seen, int number) {
    signaled = seen;
    return hooks->signal(image, number, (size_t)count);
}

/* Exit handlers. */
static void at_exit_with_status(int status, void *object) { (void)status; note(object); }
static void at_exit_owing(void *object) { owe(object, 0); atomic_fetch_add(&((struct seen *)object)->run, 100); }
void at_exit(struct seen *seen, long digit, int how) {
    ordered = seen;
    if (how == 0) hooks->at_exit(image, note, (void *)digit, 0);
    else if (how == 1) hooks->on_exit(image, at_exit_with_status, (void *)digit);
    else hooks->at_exit(image, at_exit_owing, seen, 0);
}

/* An io_uring, created by system calls without a hook. */
static int ring = -1;
static void *ring_map, *ring_entries;
static struct io_uring_params ring_is;
static size_t ring_len(void) {
    size_t sq = ring_is.sq_off.array + ring_is.sq_entries * sizeof(unsigned);
    size_t cq = ring_is.cq_off.cqes + ring_is.cq_entries * sizeof(struct io_uring_cqe);
    return sq > cq ? sq : cq;
}
/* Returns the descriptor, or a negative error number. */
int ring_open(void) {
    ring_is = (struct io_uring_params){ 0 };
    ring = syscall(SYS_io_uring_setup, 4, &ring_is);
    if (ring < 0) return -errno;
    ring_map = mmap(0, ring_len(), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    ring_entries = mmap(0, 4 * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    return ring_map == MAP_FAILED || ring_entries == MAP_FAILED ? -ENOMEM : ring;
}
/* Requests a byte of the descriptor. The kernel writes the byte to the address. */
int ring_read(int fd, void *place) {
    unsigned *tail = (unsigned *)((char *)ring_map + ring_is.sq_off.tail);
    unsigned *mask = (unsigned *)((char *)ring_map + ring_is.sq_off.ring_mask);
    unsigned *array = (unsigned *)((char *)ring_map + ring_is.sq_off.array);
    unsigned at = *tail & *mask;
    struct io_uring_sqe *entry = (struct io_uring_sqe *)ring_entries + at;
    *entry = (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = fd, .off = -1, .len = 1 };
    entry->addr = (size_t)place;
    array[at] = at;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    return syscall(SYS_io_uring_enter, ring, 1, 0, 0, 0, 0);
}
void ring_unmap(void) {
    munmap(ring_map, ring_len());
    munmap(ring_entries, 4 * sizeof(struct io_uring_sqe));
}
void ring_close(void) { close(ring); }
