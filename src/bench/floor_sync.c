/* floor_sync.c: F of floor.h, and the preallocated file that T(n) appends to as well. */
#include "floor_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench_impl.h"
#include "floor.h"

#define RECORD_BYTES 256u

/* Zeroes are written, not only promised: a sync into a hole has to sync the map of the file too. */
enum err floor_file_open(struct floor_file *f, const char *dir, struct why *why) {
    static char zeroes[1u << 20];
    char path[BENCH_PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/floor", dir);
    *f = (struct floor_file){.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    bool good = f->fd >= 0;
    for (off_t at = 0; good && at < FLOOR_FILE_BYTES; at += (off_t)sizeof zeroes)
        good = pwrite(f->fd, zeroes, sizeof zeroes, at) == (ssize_t)sizeof zeroes;
    if (good && fsync(f->fd) == 0) return ERR_OK;
    enum err e = why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    if (f->fd >= 0) close(f->fd);
    return e;
}

bool floor_file_append(struct floor_file *f, const void *bytes, size_t len) {
    if (f->at + (off_t)len > FLOOR_FILE_BYTES) f->at = 0;
    bool good = pwrite(f->fd, bytes, len, f->at) == (ssize_t)len && fdatasync(f->fd) == 0;
    f->at += (off_t)len;
    return good;
}

void floor_file_close(struct floor_file *f) {
    close(f->fd);
}

enum err floor_sync(const char *dir, double seconds, double *ret, struct why *why) {
    struct floor_file f;
    char record[RECORD_BYTES];
    enum err e = floor_file_open(&f, dir, why);
    if (e != ERR_OK) return e;
    memset(record, 'x', sizeof record);
    double start = bench_now(), now = start;
    uint64_t count = 0;
    for (; now - start < seconds && e == ERR_OK; now = bench_now(), count++)
        if (!floor_file_append(&f, record, sizeof record))
            e = why_set(why, ERR_IO, "fdatasync: %s", strerrordesc_np(errno));
    floor_file_close(&f);
    *ret = (double)count / (now - start);
    return e;
}
