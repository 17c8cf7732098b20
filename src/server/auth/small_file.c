/* small_file.c: see small_file.h. */
#include "small_file.h"

#include <stdio.h>

#include "diskio.h"
#include "hash.h"
#include "panic.h"

#define MAGIC_BYTES 8u
#define NAME_BYTES 64u

enum err small_file_replace(struct disk *d, const char *name, struct slice bytes, struct why *why) {
    char fresh[NAME_BYTES];
    disk_file f;
    struct why ignored;
    REQUIRE(snprintf(fresh, sizeof fresh, "%s.tmp", name) < (int)sizeof fresh);
    (void)!d->ops->remove(d, fresh, &ignored);
    enum err e = d->ops->open(d, fresh, DISK_CREATE, &f, why);
    if (e != ERR_OK) return e;
    e = diskio_write(d, f, 0, bytes.ptr, bytes.len, why);
    if (e == ERR_OK) e = d->ops->sync(d, f, why);
    d->ops->close(d, f);
    if (e == ERR_OK) e = d->ops->rename(d, fresh, name, why);
    if (e == ERR_OK) e = d->ops->sync_dir(d, "", why);
    return e;
}

enum err small_file_save(const struct small_file *f, struct disk *d, const void *message, struct why *why) {
    struct buf body, out;
    buf_init(&body, SMALL_FILE_BYTES_MAX);
    buf_init(&out, SMALL_FILE_BYTES_MAX);
    tlv_encode(f->desc, message, &body);
    buf_put(&out, f->magic, MAGIC_BYTES);
    buf_put_u32(&out, crc32c(0, body.at, body.len));
    buf_put_slice(&out, buf_slice(&body));
    ENSURE(!body.full && !out.full);
    enum err e = small_file_replace(d, f->name, buf_slice(&out), why);
    buf_fini(&body);
    buf_fini(&out);
    return e;
}

static enum err parse(const struct small_file *f, struct slice bytes, struct arena *arena, void *ret, struct why *why) {
    struct cursor c = cursor_of(bytes);
    struct slice magic = cursor_bytes(&c, MAGIC_BYTES);
    uint32_t crc = cursor_u32(&c);
    struct slice body = slice_of(c.at, cursor_left(&c));
    if (c.bad || !slice_eq(magic, slice_of(f->magic, MAGIC_BYTES)) || crc32c(0, body.ptr, body.len) != crc)
        return why_set(why, ERR_CORRUPT, "%s", f->damaged);
    enum err e = tlv_decode(f->desc, body, TLV_STRICT, arena, ret, why);
    return e == ERR_OK ? ERR_OK : why_wrap(why, ERR_CORRUPT, "%s", f->name);
}

enum err small_file_load(const struct small_file *f, struct disk *d, struct arena *arena, void *ret, struct why *why) {
    disk_file file;
    uint64_t bytes = 0;
    size_t got = 0;
    struct buf all;
    enum err e = d->ops->open(d, f->name, DISK_READ, &file, why);
    if (e != ERR_OK) return e;
    buf_init(&all, SMALL_FILE_BYTES_MAX);
    e = d->ops->size(d, file, &bytes, why);
    if (e == ERR_OK && bytes > SMALL_FILE_BYTES_MAX) e = why_set(why, ERR_CORRUPT, "%s", f->damaged);
    if (e == ERR_OK) e = diskio_read(d, file, 0, buf_space(&all, (size_t)bytes), (size_t)bytes, &got, why);
    d->ops->close(d, file);
    if (e == ERR_OK) e = parse(f, arena_slice(arena, slice_of(all.at, got)), arena, ret, why);
    buf_fini(&all);
    return e;
}
