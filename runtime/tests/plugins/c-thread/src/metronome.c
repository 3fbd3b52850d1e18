/* Metronome of a typical C library: one thread that calls back until it is stopped. */

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

typedef void (*metronome_beat)(void *context, unsigned beat);

static struct {
    pthread_t thread;
    metronome_beat callback;
    void *context;
    long period_ns;
    atomic_int running;
} metronome;

static void *run(void *unused) {
    (void)unused;
    const struct timespec period = {.tv_sec = 0, .tv_nsec = metronome.period_ns};
    for (unsigned beat = 1; atomic_load(&metronome.running); beat++) {
        metronome.callback(metronome.context, beat);
        nanosleep(&period, NULL);
    }
    return NULL;
}

/* Starts the thread, which calls `callback` every `period_ns` (less than a second). Returns 0, or an errno number. */
int metronome_start(metronome_beat callback, void *context, long period_ns) {
    metronome.callback = callback;
    metronome.context = context;
    metronome.period_ns = period_ns;
    atomic_store(&metronome.running, 1);
    int failed = pthread_create(&metronome.thread, NULL, run, NULL);
    if (failed) {
        atomic_store(&metronome.running, 0);
    }
    return failed;
}

/* Requests the thread to stop. The callback may be called once more. */
void metronome_ask_to_stop(void) { atomic_store(&metronome.running, 0); }

/* Waits for the end of the thread; must be called once per start. */
void metronome_join(void) { pthread_join(metronome.thread, NULL); }
