/* journal_bench.c: what an append costs beside the floor, and how fast recovery reads. Real files in the directory
 * given (default: the current one); floor and journal take turns in one run, so that both see the same disk.
 *
 *   F        256 B pwrite + fdatasync on a preallocated file
 *   append   one batch of 256 B through the journal (inline), acknowledged after its sync
 *   handed   the same through the writer's thread
 *   beside   appends while another thread snapshots and trims without pause: the time of an append less that of its own
 *            write and sync, so what is left is waiting for locks and our own work
 *   read     recovery of what was written, from the page cache */
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_time.h"
#include "file.h"
#include "osclock.h"
#include "osdisk.h"
#include "panic.h"
#include "writer.h"

#define SIX_X "XX" "XX" "XX" /* what mkdtemp replaces */
#define ROUNDS 10
#define PER_ROUND 1000
#define FLOOR_BYTES (64u << 20)

/* The disk's own write and sync, with a stopwatch per thread around them: the rest of an append is ours. */
static const struct disk_ops *plain;
static _Thread_local double disk_seconds;

static enum err timed_write(struct disk *d, disk_file f, uint64_t offset, const void *from, size_t len, size_t *ret,
                            struct why *why) {
    double start = bench_now();
    enum err e = plain->write(d, f, offset, from, len, ret, why);
    disk_seconds += bench_now() - start;
    return e;
}

static enum err timed_sync(struct disk *d, disk_file f, struct why *why) {
    double start = bench_now();
    enum err e = plain->sync(d, f, why);
    disk_seconds += bench_now() - start;
    return e;
}

struct bench {
    struct disk *disk;
    struct journal *journal;
    struct journal_head head;
    struct writer *writer;
    struct why why;
    uint8_t payload[65536];
};

static void must(enum err e, const struct why *why) {
    if (e == ERR_OK) return;
    fprintf(stderr, "%s: %s\n", err_word(e), why->text);
    exit(1);
}

static struct batch next_batch(struct bench *b, size_t bytes) {
    return (struct batch){.first_lsn = b->head.lsn + 1,
                          .last_lsn = b->head.lsn + 1,
                          .epoch = b->head.epoch,
                          .rules = RULES_VERSION,
                          .time = b->head.time,
                          .records = slice_of(b->payload, bytes)};
}

static void append(struct bench *b, size_t bytes, bool here) {
    struct batch batch = next_batch(b, bytes);
    struct writer_result r;
    if (!writer_append(b->writer, b->head.epoch, b->head.lsn, &batch, here, &r)) {
        struct pollfd p = {.fd = writer_fd(b->writer), .events = POLLIN};
        while (!writer_take(b->writer, &r)) (void)poll(&p, 1, -1);
    }
    if (r.outcome != JOURNAL_DURABLE) must(ERR_IO, &r.why);
    b->head.lsn = batch.last_lsn;
}

static double floor_round(int fd, off_t *at) {
    uint8_t bytes[256];
    memset(bytes, 7, sizeof bytes);
    double start = bench_now();
    for (int i = 0; i < PER_ROUND; i++, *at += 256) {
        ENSURE(pwrite(fd, bytes, sizeof bytes, *at % FLOOR_BYTES) == (ssize_t)sizeof bytes);
        ENSURE(fdatasync(fd) == 0);
    }
    return PER_ROUND / (bench_now() - start);
}

static double append_round(struct bench *b, bool here) {
    double start = bench_now();
    for (int i = 0; i < PER_ROUND; i++) append(b, 256, here);
    return PER_ROUND / (bench_now() - start);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *at, int count) {
    qsort(at, (size_t)count, sizeof *at, by_value);
    return at[count / 2];
}

static enum err batch_count(void *ctx, const struct batch *batch, struct why *why) {
    (void)why;
    *(uint64_t *)ctx += batch->records.len;
    return ERR_OK;
}

static void throughput(struct bench *b, const char *dir) {
    char path[512];
    snprintf(path, sizeof path, "%s/floor", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ENSURE(fd >= 0);
    static uint8_t zeroes[1 << 20];
    for (int i = 0; i < 64; i++) ENSURE(pwrite(fd, zeroes, sizeof zeroes, (off_t)i << 20) == (ssize_t)sizeof zeroes);
    ENSURE(fsync(fd) == 0);
    double floors[ROUNDS], here[ROUNDS], handed[ROUNDS];
    off_t at = 0;
    for (int i = 0; i < ROUNDS; i++) {
        floors[i] = floor_round(fd, &at);
        here[i] = append_round(b, true);
        handed[i] = append_round(b, false);
    }
    close(fd);
    double f = median(floors, ROUNDS), a = median(here, ROUNDS), h = median(handed, ROUNDS);
    printf("F       %8.0f /s\nappend  %8.0f /s  %.2f F\nhanded  %8.0f /s  %.2f F\n", f, a, a / f, h, h / f);
}

struct keeper {
    struct bench *bench;
    atomic_uint_fast64_t lsn;
    atomic_bool stop;
    unsigned rounds;
};

struct filler {
    struct byte_source source;
    size_t left;
};

static enum err fill(struct byte_source *s, void *to, size_t len, size_t *ret, struct why *why) {
    (void)why;
    struct filler *k = (struct filler *)s;
    if (len > k->left) len = k->left;
    memset(to, 3, len);
    k->left -= len;
    *ret = len;
    return ERR_OK;
}

static void *keeper_main(void *arg) {
    struct keeper *k = arg;
    struct why why;
    while (!k->stop) {
        struct filler bytes = {{fill}, 8u << 20};
        struct snapshot_info info = {k->lsn, 1, {1}};
        must(k->bench->journal->ops->snapshot_put(k->bench->journal, &info, &bytes.source, &why), &why);
        must(k->bench->journal->ops->trim(k->bench->journal, info.lsn, &why), &why);
        k->rounds++;
    }
    return NULL;
}

static void pauses(struct bench *b) {
    struct keeper k = {.bench = b};
    k.lsn = b->head.lsn;
    pthread_t thread;
    ENSURE(pthread_create(&thread, NULL, keeper_main, &k) == 0);
    double worst = 0, sum = 0;
    int count = 6 * PER_ROUND;
    for (int i = 0; i < count; i++) {
        disk_seconds = 0;
        double start = bench_now();
        append(b, 4096 + (size_t)i * 37 % 60000, true);
        double ours = bench_now() - start - disk_seconds;
        k.lsn = b->head.lsn;
        sum += ours;
        if (ours > worst) worst = ours;
    }
    k.stop = true;
    ENSURE(pthread_join(thread, NULL) == 0);
    printf("beside  %d appends during %u snapshots and trims: our own part %.1f us on average, %.3f ms at most\n",
           count, k.rounds, sum / count * 1e6, worst * 1e3);
}

static void reading(struct bench *b) {
    for (int i = 0; i < 3000; i++) append(b, 60000, true);
    for (int round = 0; round < 2; round++) { /* the first one warms the cache */
        uint64_t bytes = 0;
        double start = bench_now();
        must(b->journal->ops->read(b->journal, 1, UINT64_MAX, batch_count, &bytes, &b->why), &b->why);
        double seconds = bench_now() - start;
        double mb = (double)bytes / 1e6;
        if (round == 1) printf("read    %8.0f MB/s  (%.0f MB)\n", mb / seconds, mb);
    }
}

static void bench_open(struct bench *b, struct disk *d) {
    struct file_options o;
    file_options_default(&o);
    b->disk = d;
    must(file_open(d, osclock(), &o, &b->journal, &b->why), &b->why);
    must(b->journal->ops->acquire(b->journal, 0, &b->head, &b->why), &b->why);
    must(b->journal->ops->prepare(b->journal, &b->why), &b->why);
    must(writer_open(b->journal, true, &b->writer, &b->why), &b->why);
}

static int entry_remove(const char *path, const struct stat *st, int flag, struct FTW *at) {
    (void)st, (void)flag, (void)at;
    return remove(path);
}

int main(int argc, char **argv) {
    char dir[256];
    snprintf(dir, sizeof dir, "%s/journal-bench-%s", argc > 1 ? argv[1] : ".", SIX_X);
    ENSURE(mkdtemp(dir) != NULL);
    static struct bench b;
    struct disk *d;
    struct why why;
    must(osdisk_open(dir, &d, &why), &why);
    plain = d->ops;
    struct disk_ops timed = *plain;
    timed.write = timed_write;
    timed.sync = timed_sync;
    d->ops = &timed;
    bench_open(&b, d);
    throughput(&b, dir);
    reading(&b);
    pauses(&b);
    writer_close(b.writer);
    b.journal->ops->close(b.journal);
    osdisk_close(d);
    (void)nftw(dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
