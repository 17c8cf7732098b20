/* vault_bench.c: what blobs and logs cost beside the floors of the same run. Real files in the directory given
 * (default: the current one).
 *
 *   F(n)      n bytes pwrite + fdatasync at the end of a growing file: what a put with its own sync would cost at best
 *   puts      small scripts through the vault's thread, so many in flight; each acknowledged after its sync
 *   large     one stream, hashed, compressed when it pays, synced once; its floor: plain 1 MiB writes and one fdatasync
 *   logs      batches of 16 KiB of text from 16 attempts; the floor writes the same bytes in the same groups
 *   no-ops    logs of ten bytes, each its own attempt
 *   open      a start over what was written */
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "blob_log_store.h"
#include "hash.h"
#include "limit.h"
#include "osclock.h"
#include "osdigest.h"
#include "osdisk.h"
#include "panic.h"

#define SIX_X \
    "XX"      \
    "XX"      \
    "XX" /* what mkdtemp replaces */
#define SECONDS 2.0

static const char *dir;
static struct blob_log_store vault;
static struct disk *disk;
static struct limits limits;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(enum err e, const struct why *why) {
    if (e == ERR_OK) return;
    fprintf(stderr, "%s: %s\n", err_word(e), why->text);
    exit(1);
}

/* Hands over, waits, takes. Returns the seconds that the loop itself was kept busy. */
static double turn(void) {
    struct why why;
    double start = now();
    (void)blob_log_store_kick(&vault);
    double kept = now() - start;
    struct pollfd p = {.fd = blob_log_store_fd(&vault), .events = POLLIN};
    (void)poll(&p, 1, -1);
    start = now();
    must(blob_log_store_take(&vault, &why), &why);
    return kept + now() - start;
}

static int floor_open(void) {
    char path[512];
    snprintf(path, sizeof path, "%s/floor", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ENSURE(fd >= 0);
    return fd;
}

static double floor_rate(size_t bytes) {
    int fd = floor_open();
    static uint8_t at[1 << 20];
    for (size_t i = 0; i < sizeof at; i++) at[i] = (uint8_t)hash64(&i, sizeof i, 1);
    uint64_t count = 0;
    double start = now();
    for (; now() - start < SECONDS / 2; count++) {
        ENSURE(pwrite(fd, at, bytes, (off_t)(count * bytes)) == (ssize_t)bytes);
        ENSURE(fdatasync(fd) == 0);
    }
    double rate = (double)count / (now() - start);
    close(fd);
    return rate;
}

static size_t script(char *to, size_t room, uint64_t n) {
    int len = snprintf(to, room,
                       "#!/bin/sh\nset -eu\ncd \"$WORK\"\nexport PART=%llu SEED=%llx\npython3 -m etl.load "
                       "--table orders --day 2024-01-%02u --part $PART --out part-$PART.parquet\n"
                       "echo \"loaded $PART rows=$(wc -l < part-$PART.csv)\" >> \"$REEVE_OUTPUT\"\n",
                       (unsigned long long)n, (unsigned long long)hash64(&n, sizeof n, 3), (unsigned)(n % 28 + 1));
    ENSURE(len > 0 && (size_t)len < room);
    return (size_t)len;
}

static uint64_t disk_bytes(void) {
    struct packs_stats b, l;
    blobs_stats(vault.blobs, &b);
    joblogs_stats(vault.logs, &l);
    return b.file_bytes + l.file_bytes;
}

static uint64_t next_script;

static void puts_bench(uint32_t in_flight) {
    struct why why;
    double f = floor_rate(4096);
    uint64_t count = 0, flushes = blobs_durable(vault.blobs), bytes = disk_bytes();
    double start = now(), kept = 0;
    while (now() - start < SECONDS) {
        for (uint32_t i = 0; i < in_flight; i++, count++) {
            char text[512];
            blob_hash hash;
            uint64_t ticket;
            size_t len = script(text, sizeof text, next_script++);
            must(blobs_put(vault.blobs, SLICE("acme"), slice_of(text, len), &hash, &ticket, &why), &why);
        }
        double took = turn();
        if (took > kept) kept = took;
    }
    double seconds = now() - start, rate = (double)count / seconds;
    printf(
        "puts, %4u in flight   %9.0f /s  %6.2f F(4096) = %.0f/s  %6llu syncs, %.0f B of disk each, loop kept %.2f ms\n",
        in_flight, rate, rate / f, f, (unsigned long long)(blobs_durable(vault.blobs) - flushes),
        (double)(disk_bytes() - bytes) / (double)count, kept * 1e3);
}

static void large_bench(bool text) {
    struct why why;
    uint64_t total = 256u << 20, done = 0;
    static uint8_t part[1 << 20];
    static const char words[] = "the quick brown fox jumps over it\n";
    for (size_t i = 0; i < sizeof part; i++) {
        size_t letter = i % (sizeof words - 1);
        part[i] = (uint8_t)(text ? (size_t)words[letter] + i / 1024 % 3 : (size_t)hash64(&i, sizeof i, 5));
    }
    int fd = floor_open();
    double start = now();
    for (uint64_t at = 0; at < total; at += sizeof part)
        ENSURE(pwrite(fd, part, sizeof part, (off_t)at) == (ssize_t)sizeof part);
    ENSURE(fdatasync(fd) == 0);
    double floor_seconds = now() - start;
    close(fd);
    struct blob_put *put;
    blob_hash hash;
    uint64_t bytes;
    start = now();
    must(blob_put_begin(vault.blobs, SLICE("acme"), &put, &why), &why);
    while (done < total) {
        memcpy(part, &done, sizeof done);
        enum err e = blob_put_part(put, slice_of(part, sizeof part), &why);
        if (e == ERR_OK)
            done += sizeof part;
        else if (e != ERR_BUSY)
            must(e, &why);
        if (e == ERR_BUSY) (void)turn();
        (void)blob_log_store_kick(&vault); /* as a loop does: the next parts come while these are written */
        must(blob_log_store_take(&vault, &why), &why);
    }
    must(blob_put_end(put, &why), &why);
    while (!blob_put_done(put, &hash, &bytes)) (void)turn();
    double seconds = now() - start, mb = (double)total / 1e6;
    start = now();
    struct pack_reader r;
    blobs_reader_init(vault.blobs, &r);
    must(blobs_verify(vault.blobs, &r, SLICE("acme"), &hash, &why), &why);
    pack_reader_fini(&r);
    printf("large, %s      %9.0f MB/s  %6.2f of plain writes (%.0f MB/s); read and hashed %.0f MB/s\n",
           text ? "text  " : "random", mb / seconds, floor_seconds / seconds, mb / floor_seconds, mb / (now() - start));
}

static void logs_bench(void) {
    struct why why;
    static uint8_t batch[16384];
    uint64_t bytes = 0, before = disk_bytes(), flush_bytes = 0, flushes = joblogs_durable(vault.logs);
    for (size_t i = 0; i < sizeof batch;) {
        char line[128];
        int len =
            snprintf(line, sizeof line, "2024-01-01T00:00:%02zu.%03zu INFO worker.pool step=%zu loss=0.%05u lr=0.001\n",
                     i % 60, i % 1000, i, (unsigned)(hash64(&i, sizeof i, 1) % 100000));
        for (int k = 0; k < len && i < sizeof batch; k++) batch[i++] = (uint8_t)line[k];
    }
    double start = now(), kept = 0;
    while (now() - start < SECONDS) {
        for (uint32_t i = 0; i < 16 * 4; i++) {
            struct log_key key = {.flow = 1, .ordinal = i % 16, .attempt = 1};
            struct log_state s;
            struct log_piece p = {LOG_STDOUT, {1700000000000}, slice_of(batch, sizeof batch)};
            joblogs_state(vault.logs, &key, &s);
            memcpy(batch, &s.end, sizeof s.end);
            must(joblogs_append(vault.logs, &key, s.end, &p, 1, 0, &s, &why), &why);
            bytes += sizeof batch;
        }
        flush_bytes = 64 * sizeof batch;
        double took = turn();
        if (took > kept) kept = took;
    }
    double seconds = now() - start, mb = (double)bytes / 1e6;
    double floor = floor_rate(flush_bytes) * (double)flush_bytes / 1e6;
    printf("logs, 16 attempts     %9.0f MB/s  %6.2f of writing them plain (%.0f MB/s), %.2f of the bytes on disk, %llu "
           "syncs, loop kept %.2f ms at most\n",
           mb / seconds, mb / seconds / floor, floor, (double)(disk_bytes() - before) / (double)bytes,
           (unsigned long long)(joblogs_durable(vault.logs) - flushes), kept * 1e3);
}

static void noops_bench(uint32_t in_flight) {
    struct why why;
    double f = floor_rate(4096);
    static uint64_t flow = 1000;
    uint64_t count = 0, before = disk_bytes();
    double start = now();
    while (now() - start < SECONDS) {
        for (uint32_t i = 0; i < in_flight; i++, count++) {
            struct log_key key = {.flow = flow++, .attempt = 1};
            struct log_state s;
            struct log_piece p = {LOG_STDOUT, {1700000000000 + (int64_t)flow}, SLICE("ten bytes\n")};
            must(joblogs_append(vault.logs, &key, 0, &p, 1, 0, &s, &why), &why);
        }
        (void)turn();
    }
    double rate = (double)count / (now() - start);
    printf("no-ops, %4u in flight %9.0f /s  %6.2f F(4096) = %.0f/s  %.0f B of disk each\n", in_flight, rate, rate / f,
           f, (double)(disk_bytes() - before) / (double)count);
}

static uint64_t resident(void) {
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long long size = 0, pages = 0;
    ENSURE(f != NULL && fscanf(f, "%llu %llu", &size, &pages) == 2);
    (void)fclose(f);
    return pages * 4096;
}

static void open_bench(void) {
    struct why why;
    blob_log_store_close(&vault);
    for (int round = 0; round < 2; round++) { /* the first one closes the last packs */
        uint64_t memory = resident();
        double start = now();
        clock_t processor = clock();
        must(blob_log_store_open(&vault, disk, osclock(), osdigest(), &limits, true, &why), &why);
        double seconds = now() - start;
        struct packs_stats b, l;
        blobs_stats(vault.blobs, &b);
        joblogs_stats(vault.logs, &l);
        printf(
            "open %-6s  %6.0f ms (%.0f of processor) for %llu blobs, %llu extents, %u packs, %.0f MB; %.0f MB memory\n",
            round ? "again" : "first", seconds * 1e3, (double)(clock() - processor) * 1e3 / CLOCKS_PER_SEC,
            (unsigned long long)b.entries, (unsigned long long)l.entries, b.packs + l.packs,
            (double)(b.file_bytes + l.file_bytes) / 1e6, (double)(resident() - memory) / 1e6);
        if (round == 0) blob_log_store_close(&vault);
    }
}

static int entry_remove(const char *path, const struct stat *st, int flag, struct FTW *at) {
    (void)st, (void)flag, (void)at;
    return remove(path);
}

int main(int argc, char **argv) {
    static char path[256];
    struct why why;
    snprintf(path, sizeof path, "%s/vault-bench-%s", argc > 1 ? argv[1] : ".", SIX_X);
    ENSURE(mkdtemp(path) != NULL);
    dir = path;
    limits_default(&limits);
    limits.vault_reserve_bytes = 0;
    must(osdisk_open(path, &disk, &why), &why);
    must(blob_log_store_open(&vault, disk, osclock(), osdigest(), &limits, true, &why), &why);
    puts_bench(1);
    puts_bench(64);
    puts_bench(1000);
    noops_bench(1);
    noops_bench(1000);
    logs_bench();
    large_bench(true);
    large_bench(false);
    open_bench();
    blob_log_store_close(&vault);
    osdisk_close(disk);
    (void)nftw(path, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
