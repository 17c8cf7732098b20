/* scan.c: see scan.h. Guarantees: memory is bounded by the larger of 1 MiB and the longest block that fits the file;
 * no byte of a block is handed out before its CRC was checked. Must not: write, or judge what a bad block means. */
#include "scan.h"

#include <string.h>

#include "diskio.h"
#include "panic.h"

#define WINDOW_BYTES (1024u * 1024u)

void scan_init(struct scan *s, struct disk *disk) {
    *s = (struct scan){.disk = disk, .file = {-1}};
    buf_init(&s->memory, 0);
}

void scan_fini(struct scan *s) {
    scan_close(s);
    buf_fini(&s->memory);
    s->window = NULL;
    s->room = 0;
}

enum err scan_open(struct scan *s, const char *name, uint64_t nonce, bool any_nonce, struct why *why) {
    REQUIRE(s->file.v < 0 && s->packed == NULL);
    disk_file f;
    enum err e = s->disk->ops->open(s->disk, name, DISK_READ, &f, why);
    if (e != ERR_OK) return e;
    e = s->disk->ops->size(s->disk, f, &s->bytes, why);
    if (e != ERR_OK) {
        s->disk->ops->close(s->disk, f);
        return why_wrap(why, e, "%s", name);
    }
    s->file = f;
    s->nonce = nonce;
    s->any_nonce = any_nonce;
    scan_forget(s);
    return ERR_OK;
}

enum err scan_open_packed(struct scan *s, const char *name, struct why *why) {
    REQUIRE(s->file.v < 0 && s->packed == NULL);
    enum err e = packed_open(s->disk, name, &s->packed, why);
    if (e != ERR_OK) return e;
    s->bytes = packed_head(s->packed)->used_bytes;
    s->nonce = packed_head(s->packed)->segment.nonce;
    s->any_nonce = false;
    scan_forget(s);
    return ERR_OK;
}

void scan_close(struct scan *s) {
    if (s->packed != NULL) packed_close(s->packed);
    s->packed = NULL;
    if (s->file.v >= 0) s->disk->ops->close(s->disk, s->file);
    s->file = (disk_file){-1};
}

void scan_forget(struct scan *s) {
    s->start = 0;
    s->len = 0;
}

/* Makes the window at least so large; its first `kept` bytes stay. It begins on a page, as everything that is read into
 * it does in the file: a copy whose ends lie a few bytes beside each other's place in a page takes twice the time on
 * many processors, and every byte of a journal comes this way. */
static void window_grow(struct scan *s, size_t want, size_t kept) {
    if (want <= s->room) return;
    struct buf larger;
    buf_init(&larger, want + BLOCK_ALIGN);
    uint8_t *window = buf_space(&larger, want + BLOCK_ALIGN);
    ENSURE(window != NULL);
    window += -(uintptr_t)window % BLOCK_ALIGN;
    if (kept > 0) memcpy(window, s->window, kept);
    buf_fini(&s->memory);
    s->memory = larger;
    s->window = window;
    s->room = want;
}

/* Fills the window from `offset` on with `want` bytes, or as many as there are. What it has of them already is not read
 * again: the head of a block is looked at before its length is known. */
static enum err window_fill(struct scan *s, uint64_t offset, size_t want, struct why *why) {
    bool overlaps = offset >= s->start && offset < s->start + s->len;
    size_t kept = overlaps ? (size_t)(s->start + s->len - offset) : 0, have = 0;
    if (kept > 0) memmove(s->window, s->window + (offset - s->start), kept);
    s->start = offset;
    s->len = 0; /* of a failed read nothing may be used */
    window_grow(s, want, kept);
    uint8_t *to = s->window + kept;
    enum err e = s->packed != NULL ? packed_read(s->packed, offset + kept, to, want - kept, &have, why)
                                   : diskio_read(s->disk, s->file, offset + kept, to, want - kept, &have, why);
    if (e == ERR_OK) s->len = kept + have;
    return e;
}

/* Makes bytes [offset, offset + need) available; ret_have is less only at the end of the file. */
static enum err window_move(struct scan *s, uint64_t offset, size_t need, struct slice *ret, struct why *why) {
    REQUIRE(s->file.v >= 0 || s->packed != NULL);
    bool inside = offset >= s->start && offset + need <= s->start + s->len;
    if (!inside) {
        size_t whole = s->bytes < WINDOW_BYTES ? (size_t)s->bytes : WINDOW_BYTES;
        enum err e = window_fill(s, offset, need < whole ? whole : need, why);
        if (e != ERR_OK) return e;
    }
    size_t have = s->start + s->len > offset ? (size_t)(s->start + s->len - offset) : 0;
    *ret = slice_of(s->window + (offset - s->start), have < need ? have : need);
    ENSURE(ret->len <= need);
    return ERR_OK;
}

enum err scan_block(struct scan *s, uint64_t offset, bool *ret_valid, struct block *ret, struct why *why) {
    REQUIRE(offset % BLOCK_ALIGN == 0);
    *ret_valid = false;
    if (offset + BLOCK_ALIGN > s->bytes) return ERR_OK;
    struct slice bytes;
    enum err e = window_move(s, offset, BLOCK_ALIGN, &bytes, why);
    if (e != ERR_OK) return e;
    struct block b;
    if (!block_peek(bytes, s->bytes - offset, &b)) return ERR_OK;
    if (!s->any_nonce && b.nonce != s->nonce) return ERR_OK;
    e = window_move(s, offset, b.total_bytes, &bytes, why);
    if (e != ERR_OK) return e;
    if (bytes.len < b.total_bytes || !block_verify(&b, offset, bytes)) return ERR_OK;
    ENSURE(b.batch.records.len == 0 || b.batch.records.ptr != NULL);
    *ret = b;
    *ret_valid = true;
    return ERR_OK;
}

enum err scan_find(struct scan *s, uint64_t offset, uint64_t *ret_offset, struct block *ret, struct why *why) {
    REQUIRE(offset % BLOCK_ALIGN == 0);
    for (; offset + BLOCK_ALIGN <= s->bytes; offset += BLOCK_ALIGN) {
        bool valid = false;
        enum err e = scan_block(s, offset, &valid, ret, why);
        if (e != ERR_OK) return e;
        if (!valid) continue;
        *ret_offset = offset;
        return ERR_OK;
    }
    *ret_offset = UINT64_MAX;
    return ERR_OK;
}

enum err scan_is_zero(struct scan *s, uint64_t offset, bool *ret, struct why *why) {
    struct slice bytes;
    *ret = false;
    if (offset + BLOCK_ALIGN > s->bytes) return ERR_OK;
    enum err e = window_move(s, offset, BLOCK_ALIGN, &bytes, why);
    if (e != ERR_OK) return e;
    if (bytes.len < BLOCK_ALIGN) return ERR_OK;
    uint8_t any = 0;
    for (size_t i = 0; i < bytes.len; i++) any |= bytes.ptr[i];
    *ret = any == 0;
    return ERR_OK;
}
