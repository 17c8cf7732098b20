/* diskio.c: see diskio.h. Must not: repeat a call that failed. */
#include "diskio.h"

#include "panic.h"

enum err diskio_read(struct disk *d, disk_file f, uint64_t offset, void *to, size_t len, size_t *ret,
                     struct why *why) {
    size_t have = 0;
    while (have < len) {
        size_t got = 0;
        enum err e = d->ops->read(d, f, offset + have, (uint8_t *)to + have, len - have, &got, why);
        if (e != ERR_OK) return e;
        ENSURE(got <= len - have);
        if (got == 0) break;
        have += got;
    }
    *ret = have;
    return ERR_OK;
}

enum err diskio_write(struct disk *d, disk_file f, uint64_t offset, const void *from, size_t len, struct why *why) {
    size_t have = 0;
    while (have < len) {
        size_t put = 0;
        enum err e = d->ops->write(d, f, offset + have, (const uint8_t *)from + have, len - have, &put, why);
        if (e != ERR_OK) return e;
        ENSURE(put <= len - have);
        if (put == 0) return why_set(why, ERR_IO, "a write of %zu bytes moved nothing", len - have);
        have += put;
    }
    return ERR_OK;
}
