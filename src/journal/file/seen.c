/* seen.c: see seen.h. Layout: magic, segment, first LSN, CRC32C of all before; 28 bytes, little-endian. */
#include "seen.h"

#include <string.h>

#include "buf.h"
#include "diskio.h"
#include "hash.h"
#include "panic.h"

#define SEEN_BYTES 28u
#define SEEN_NEW SEEN_NAME ".new"

static const char magic[8] = {'R', 'E', 'E', 'V', 'E', 'S', 'E', 'E'};

static bool decode(struct slice bytes, struct seen *ret) {
    struct cursor c = cursor_of(bytes);
    if (bytes.len != SEEN_BYTES || memcmp(cursor_bytes(&c, sizeof magic).ptr, magic, sizeof magic) != 0) return false;
    struct seen seen = {.segment = cursor_u64(&c)};
    seen.first_lsn = cursor_u64(&c);
    if (cursor_u32(&c) != crc32c(0, bytes.ptr, SEEN_BYTES - 4)) return false;
    ENSURE(!c.bad && cursor_left(&c) == 0);
    *ret = seen;
    return true;
}

enum err seen_read(struct disk *d, struct seen *ret, struct why *why) {
    uint8_t bytes[SEEN_BYTES + 1];
    size_t have = 0;
    disk_file f;
    *ret = (struct seen){0};
    enum err e = d->ops->open(d, SEEN_NAME, DISK_READ, &f, why);
    if (e == ERR_NOT_FOUND) return ERR_OK;
    if (e != ERR_OK) return why_wrap(why, e, SEEN_NAME);
    e = diskio_read(d, f, 0, bytes, sizeof bytes, &have, why);
    d->ops->close(d, f);
    if (e != ERR_OK) return why_wrap(why, e, SEEN_NAME);
    if (decode(slice_of(bytes, have), ret)) return ERR_OK;
    return why_set(why, ERR_CORRUPT,
                   SEEN_NAME " is damaged, so nobody can tell whether segments are missing. If `reeve journal verify` "
                             "finds no fault and none was removed, remove " SEEN_NAME);
}

static enum err fill(struct disk *d, const struct seen *seen, struct why *why) {
    disk_file f;
    struct buf bytes;
    enum err e = d->ops->open(d, SEEN_NEW, DISK_CREATE, &f, why);
    if (e != ERR_OK) return e;
    buf_init(&bytes, SEEN_BYTES);
    buf_put(&bytes, magic, sizeof magic);
    buf_put_u64(&bytes, seen->segment);
    buf_put_u64(&bytes, seen->first_lsn);
    buf_put_u32(&bytes, crc32c(0, bytes.at, bytes.len));
    ENSURE(bytes.len == SEEN_BYTES);
    e = diskio_write(d, f, 0, bytes.at, bytes.len, why);
    if (e == ERR_OK) e = d->ops->sync(d, f, why);
    buf_fini(&bytes);
    d->ops->close(d, f);
    return e;
}

enum err seen_write(struct disk *d, const struct seen *seen, struct why *why) {
    REQUIRE(seen->segment > 0 && seen->first_lsn > 0);
    (void)d->ops->remove(d, SEEN_NEW, NULL); /* of an earlier attempt, if any */
    enum err e = fill(d, seen, why);
    if (e == ERR_OK) e = d->ops->rename(d, SEEN_NEW, SEEN_NAME, why);
    if (e == ERR_OK) e = d->ops->sync_dir(d, "", why);
    return e == ERR_OK ? e : why_wrap(why, e, SEEN_NAME);
}
