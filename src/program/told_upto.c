/* told_upto.c: see told_upto.h. */
#include "told_upto.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "panic.h"

/* How far it may go; the thread that reads it ends the process when nobody wants to know any more. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t upto;
} asked = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static bool read_number(uint64_t *ret) {
    uint8_t bytes[8];
    size_t have = 0;
    while (have < sizeof bytes) {
        ssize_t n = read(STDIN_FILENO, bytes + have, sizeof bytes - have);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        have += (size_t)n;
    }
    *ret = 0;
    for (uint32_t i = 0; i < sizeof bytes; i++) *ret |= (uint64_t)bytes[i] << (8 * i);
    return true;
}

static void *listen_on(void *ctx) {
    uint64_t lsn;
    (void)ctx;
    while (read_number(&lsn)) {
        pthread_mutex_lock(&asked.lock);
        asked.upto = lsn;
        pthread_cond_signal(&asked.changed);
        pthread_mutex_unlock(&asked.lock);
    }
    _exit(0);
}

uint64_t told_upto_next(uint64_t before) {
    pthread_mutex_lock(&asked.lock);
    while (asked.upto <= before) pthread_cond_wait(&asked.changed, &asked.lock);
    uint64_t upto = asked.upto;
    pthread_mutex_unlock(&asked.lock);
    return upto;
}

void told_upto_listen(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, listen_on, NULL) != 0) PANIC("no thread");
}
