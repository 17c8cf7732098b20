/* packio.c: see packio.h. Guarantees: no byte comes out of a block whose CRC was not right. Must not: write. */
#include "packio.h"

#include <stdio.h>

#include "diskio.h"
#include "panic.h"

void packio_name(char to[PACKIO_NAME_MAX], const char *dir, uint32_t number, bool unborn) {
    REQUIRE(number > 0);
    int len = snprintf(to, PACKIO_NAME_MAX, "%s/%016x.%s", dir, number, unborn ? "tmp" : "pack");
    ENSURE(len > 0 && (unsigned)len < PACKIO_NAME_MAX);
}

uint32_t packio_number(const char *name, bool *ret_unborn) {
    uint64_t v = 0;
    for (uint32_t i = 0; i < 16; i++) {
        char c = name[i];
        bool digit = c >= '0' && c <= '9';
        if (!digit && !(c >= 'a' && c <= 'f')) return 0;
        v = v << 4 | (uint64_t)(digit ? c - '0' : c - 'a' + 10);
    }
    *ret_unborn = strcmp(name + 16, ".tmp") == 0;
    if (!*ret_unborn && strcmp(name + 16, ".pack") != 0) return 0;
    return v <= UINT32_MAX ? (uint32_t)v : 0;
}

void packio_init(struct packio *io, struct disk *disk) {
    *io = (struct packio){.disk = disk, .file = {-1}};
    io->zstd = packfmt_zstd_new();
    buf_init(&io->stored, PACK_BLOCK_HEADER_BYTES + PACK_FOOTER_RAW_MAX);
}

void packio_fini(struct packio *io) {
    packio_close(io);
    packfmt_zstd_free(io->zstd);
    buf_fini(&io->stored);
}

void packio_close(struct packio *io) {
    if (io->file.v >= 0) io->disk->ops->close(io->disk, io->file);
    io->file.v = -1;
}

static enum err damaged(const struct packio *io, uint64_t offset, const char *what, struct why *why) {
    return why_set(why, ERR_CORRUPT, "%s: damaged at byte %llu: %s", io->name, (unsigned long long)offset, what);
}

/* `len` bytes or fewer at the end of the file, into `stored`. */
static enum err load(struct packio *io, uint64_t offset, size_t len, struct slice *ret, struct why *why) {
    buf_clear(&io->stored);
    uint8_t *to = buf_space(&io->stored, len);
    ENSURE(to != NULL);
    size_t have = 0;
    enum err e = diskio_read(io->disk, io->file, offset, to, len, &have, why);
    if (e != ERR_OK) return why_wrap(why, e, "%s", io->name);
    *ret = slice_of(to, have);
    return ERR_OK;
}

enum err packio_open(struct packio *io, const char *dir, uint32_t number, struct why *why) {
    packio_close(io);
    packio_name(io->name, dir, number, false);
    enum err e = io->disk->ops->open(io->disk, io->name, DISK_READ, &io->file, why);
    if (e != ERR_OK) return e;
    struct slice bytes;
    e = io->disk->ops->size(io->disk, io->file, &io->bytes, why);
    if (e == ERR_OK) e = load(io, 0, PACK_HEADER_BYTES, &bytes, why);
    if (e != ERR_OK) {
        packio_close(io);
        return e;
    }
    e = packfmt_header_decode(bytes, &io->header);
    if (e == ERR_OK && io->header.number == number) return ERR_OK;
    if (e == ERR_UNSUPPORTED) return why_set(why, e, "%s: written in a format this program does not know", io->name);
    io->header = (struct pack_header){0};
    return damaged(io, 0, "its header is unreadable", why);
}

enum err packio_block(struct packio *io, uint64_t offset, struct pack_block *ret, struct why *why) {
    /* One read brings most blocks whole; a footer may need a second. */
    struct slice bytes;
    struct pack_block b;
    uint64_t room = offset < io->bytes ? io->bytes - offset : 0;
    size_t most = PACK_BLOCK_HEADER_BYTES + PACK_BLOCK_RAW_MAX;
    enum err e = load(io, offset, room < most ? (size_t)room : most, &bytes, why);
    if (e != ERR_OK) return e;
    if (!packfmt_block_peek(bytes, room, &b)) return damaged(io, offset, "no block begins there", why);
    size_t whole = PACK_BLOCK_HEADER_BYTES + (size_t)b.stored_bytes;
    if (whole > bytes.len) {
        e = load(io, offset, whole, &bytes, why);
        if (e != ERR_OK) return e;
    }
    if (io->header.nonce != 0 && b.nonce != io->header.nonce) return damaged(io, offset, "a foreign block", why);
    if (!packfmt_block_verify(&b, offset, bytes)) return damaged(io, offset, "the block's checksum is wrong", why);
    *ret = b;
    return ERR_OK;
}

enum err packio_payload(struct packio *io, uint64_t offset, struct pack_block *ret, struct buf *raw, struct why *why) {
    struct pack_block b;
    enum err e = packio_block(io, offset, &b, why);
    if (e != ERR_OK) return e;
    if (!packfmt_block_expand(&b, buf_slice(&io->stored), io->zstd, raw))
        return damaged(io, offset, "the block does not expand", why);
    *ret = b;
    return ERR_OK;
}

enum err packio_footer(struct packio *io, struct pack_block *ret, uint64_t *ret_at, struct buf *raw, struct why *why) {
    uint64_t at = 0, footer_at = 0;
    struct slice bytes = {0};
    enum err none = ERR_NOT_FOUND;
    if (io->bytes < PACK_ALIGN + PACK_TRAILER_BYTES) return why_set(why, none, "%s: not closed", io->name);
    at = io->bytes - PACK_TRAILER_BYTES;
    enum err e = load(io, at, PACK_TRAILER_BYTES, &bytes, why);
    if (e != ERR_OK) return e;
    if (!packfmt_trailer_decode(bytes, io->header.nonce, at, &footer_at))
        return why_set(why, none, "%s: not closed", io->name);
    e = packio_payload(io, footer_at, ret, raw, why);
    if (e == ERR_CORRUPT || (e == ERR_OK && ret->kind != PACK_FOOTER))
        return why_set(why, none, "%s: its footer at byte %llu is unreadable", io->name, (unsigned long long)footer_at);
    *ret_at = footer_at;
    return e;
}

/* ---- the reader ---- */

void pack_reader_init(struct pack_reader *r, struct disk *disk, const char *dir) {
    *r = (struct pack_reader){.dir = dir};
    packio_init(&r->io, disk);
    buf_init(&r->raw, PACK_FOOTER_RAW_MAX);
}

void pack_reader_fini(struct pack_reader *r) {
    packio_fini(&r->io);
    buf_fini(&r->raw);
    u32vec_fini(&r->offsets);
}

static void row_ignored(void *ctx, const struct pack_entry *e) {
    (void)ctx, (void)e;
}

/* The ordinals of a pack's blocks, from its footer, or by walking when that is unreadable. */
static enum err offsets_load(struct pack_reader *r, struct why *why) {
    struct pack_block b;
    uint64_t at = 0;
    r->offsets.count = 0;
    r->raw_offset = 0;
    enum err e = packio_footer(&r->io, &b, &at, &r->raw, why);
    if (e == ERR_OK && packfmt_footer_decode(buf_slice(&r->raw), at, &r->offsets, row_ignored, NULL)) return ERR_OK;
    if (e != ERR_OK && e != ERR_NOT_FOUND) return e;
    r->offsets.count = 0;
    for (at = PACK_ALIGN; at < r->io.bytes; at = pack_block_end(at, &b)) {
        if (packio_block(&r->io, at, &b, why) != ERR_OK) break; /* told when a block beyond it is asked for */
        if (b.kind == PACK_DATA) u32vec_push(&r->offsets, (uint32_t)(at / PACK_BLOCK_ALIGN));
    }
    return ERR_OK;
}

static enum err pack_select(struct pack_reader *r, uint32_t pack, struct why *why) {
    if (r->pack == pack) return ERR_OK;
    r->pack = 0;
    r->raw_offset = 0;
    r->offsets.count = 0;
    enum err e = packio_open(&r->io, r->dir, pack, why);
    if (e == ERR_CORRUPT) e = ERR_OK; /* a bad header: told at the start; each block still proves itself */
    if (e == ERR_OK) r->pack = pack;
    return e;
}

static enum err block_select(struct pack_reader *r, uint64_t offset, struct why *why) {
    if (r->raw_offset == offset) return ERR_OK;
    struct pack_block b;
    r->raw_offset = 0;
    enum err e = r->io.disk->ops->size(r->io.disk, r->io.file, &r->io.bytes, why); /* it may have grown */
    if (e == ERR_OK) e = packio_payload(&r->io, offset, &b, &r->raw, why);
    if (e == ERR_OK) r->raw_offset = offset;
    return e;
}

/* Where a block's only entry has its body. */
static bool only_body(struct slice payload, uint32_t *ret_at, uint32_t *ret_len) {
    struct cursor c = cursor_of(payload);
    struct pack_entry entry;
    if (!packfmt_entry_next(&c, payload, &entry)) return false;
    *ret_at = entry.at;
    *ret_len = entry.len;
    return true;
}

enum err pack_reader_get(struct pack_reader *r, const struct pack_spot *spot, struct slice *ret, struct why *why) {
    uint64_t offset = spot->offset;
    uint32_t at = spot->at, len = spot->len;
    enum err e = pack_select(r, spot->pack, why);
    if (e == ERR_OK && offset == 0 && spot->chunk >= r->offsets.count) e = offsets_load(r, why);
    if (e != ERR_OK) return e;
    if (offset == 0 && spot->chunk >= r->offsets.count)
        return why_set(why, ERR_CORRUPT, "%s: block %u is unreadable", r->io.name, spot->chunk);
    if (offset == 0) offset = (uint64_t)r->offsets.at[spot->chunk] * PACK_BLOCK_ALIGN;
    e = block_select(r, offset, why);
    if (e != ERR_OK) return e;
    bool good = spot->offset != 0 || only_body(buf_slice(&r->raw), &at, &len);
    if (!good || at > r->raw.len || len > r->raw.len - at)
        return damaged(&r->io, offset, "the entry asked for is not in this block", why);
    *ret = slice_of(r->raw.at + at, len);
    return ERR_OK;
}
