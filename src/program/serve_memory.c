/* serve_memory.c: see serve_memory.h. It speaks of the C library's malloc; with another one (a sanitizer's) recovery is
 * left alone. */
#include "serve_memory.h"

#include <malloc.h>
#include <stdbool.h>

#include "osprefault.h"

#define STEP_BYTES (256 << 10)
#define BUFFER_BYTES (128 << 10)
#define TRIM_BYTES (2 << 20)
#define SMALL_BYTES (32u << 20)

/* While a long past is read again everything comes from the one heap, whose next bytes are known: an address and what
 * follows it. */
#define PAST_BYTES ((size_t)16 << 20) /* a shorter one is not worth a thread */
#define AHEAD_BYTES ((size_t)16 << 20)
#define PAST_STEP_BYTES (32 << 20)
#define PAST_BUFFER_BYTES (32 << 20) /* the most that malloc takes */

/* A million jobs are half a gigabyte in small pieces: taken from the system in larger steps it costs fewer calls. The
 * other two stop malloc from raising them by itself: chunks of pools are large and for long mostly unused, and take no
 * memory only as mappings of their own. */
void memory_set(void) {
    (void)mallopt(M_TOP_PAD, STEP_BYTES);
    (void)mallopt(M_MMAP_THRESHOLD, BUFFER_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, TRIM_BYTES);
}

/* What work left behind goes back to the system, unless to look for it would take long. */
void memory_give_back(void) {
    if (mallinfo2().arena <= SMALL_BYTES) (void)malloc_trim(0);
}

static void begin(struct memory_recovery *h) {
    if (mallinfo2().arena == 0) return; /* not the malloc we know */
    h->ahead = osprefault_open(AHEAD_BYTES);
    if (h->ahead == NULL) return;
    (void)mallopt(M_TOP_PAD, PAST_STEP_BYTES);
    (void)mallopt(M_MMAP_THRESHOLD, PAST_BUFFER_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, 2 * PAST_STEP_BYTES);
}

void memory_recovers(void *recovery, size_t bytes) {
    struct memory_recovery *h = recovery;
    bool was_short = h->bytes < PAST_BYTES;
    h->bytes += bytes;
    if (h->bytes < PAST_BYTES) return;
    if (was_short) begin(h);
    if (h->ahead != NULL) osprefault_reach_heap(h->ahead);
}

void memory_recovered(struct memory_recovery *h) {
    if (h->ahead == NULL) return;
    osprefault_close(h->ahead);
    h->ahead = NULL;
    memory_set();
    (void)malloc_trim(0);
}
