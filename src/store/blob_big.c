/* blob_big.c: streams. A put that stays small ends in a shared pack; one that grows beyond BLOB_SMALL_BYTES gets a pack
 * of its own, in these steps, each in a flush:
 *
 *   write    chunks of PACK_BODY_MAX to <number>.tmp, hashed on the way; with the last one the end entry and the
 *            footer, then a sync: only now the hash is known
 *   name     unless the blob turned out to be there already: rename to <number>.pack, sync the directory
 *
 * A .tmp that a crash leaves is removed at the next start. A file that has its name was synced before it got it.
 * Hashing, compressing and every call of the disk are the flushing thread's. */
#include "blob_impl.h"
#include "diskio.h"
#include "panic.h"

/* ---- the loop's side ---- */

static void chunks_free(struct vec *chunks) {
    for (uint32_t i = 0; i < chunks->count; i++) buf_fini(vec_at(chunks, i));
    vec_fini(chunks);
}

static uint64_t chunks_bytes(const struct vec *chunks) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < chunks->count; i++) bytes += ((struct buf *)vec_at(chunks, i))->len;
    return bytes;
}

void big_put_free(struct blob_put *put) {
    struct blobs *b = put->blobs;
    REQUIRE(!put->aboard);
    if (put->big != NULL) {
        struct big *g = put->big;
        b->big_pending_bytes -= chunks_bytes(&put->chunks) + chunks_bytes(&g->chunks);
        if (g->file.v >= 0) b->disk->ops->close(b->disk, g->file);
        b->digest->drop(g->run);
        u32vec_fini(&g->offsets);
        chunks_free(&g->chunks);
    }
    if (put->pinned != 0) blob_at(b, put->pinned)->pins--;
    blob_coming(put, 0);
    chunks_free(&put->chunks);
    buf_fini(&put->whole);
    pool_free(&b->puts, put->self);
}

static void big_begin(struct blob_put *put) {
    struct blobs *b = put->blobs;
    struct big *g = put->big = &put->big_space;
    *g = (struct big){.number = packs_number_take(b->packs), .file = {-1}, .offset = PACK_ALIGN};
    do g->nonce = b->clock->random(b->clock);
    while (g->nonce == 0);
    g->time_ms = b->clock->wall(b->clock).ms;
    g->tenant = blob_tenant(b, put->tenant);
    g->run = b->digest->begin(b->digest);
    vec_init(&g->chunks, sizeof(struct buf));
}

/* The full chunk goes to those that wait. */
static void chunk_close(struct blob_put *put) {
    if (put->big == NULL) big_begin(put);
    put->blobs->big_pending_bytes += put->whole.len;
    *(struct buf *)vec_push(&put->chunks) = put->whole;
    buf_init(&put->whole, PACK_BODY_MAX);
}

static enum err big_admit(struct blobs *b, uint64_t bytes, struct why *why) {
    if (b->dead) return why_set(why, ERR_IO, "blobs: a write or sync failed; nothing is taken any more");
    return packs_admit(b->packs, b->big_pending_bytes + bytes, why);
}

enum err blob_put_part(struct blob_put *put, struct slice bytes, struct why *why) {
    struct blobs *b = put->blobs;
    REQUIRE(put->state == PUT_OPEN);
    if (bytes.len > b->options.blob_bytes_max || put->bytes > b->options.blob_bytes_max - bytes.len)
        return why_set(why, ERR_LIMIT, "the blob is larger than blob_bytes_max, %llu",
                       (unsigned long long)b->options.blob_bytes_max);
    enum err e = blob_admit(b, put->tenant, bytes.len, why);
    if (e == ERR_OK) e = big_admit(b, bytes.len, why);
    if (e != ERR_OK) return e;
    put->bytes += bytes.len;
    if (bytes.len > 0) blob_coming(put, bytes.len);
    while (bytes.len > 0) {
        if (put->whole.len == PACK_BODY_MAX) chunk_close(put);
        size_t room = PACK_BODY_MAX - put->whole.len, len = bytes.len < room ? bytes.len : room;
        buf_put(&put->whole, bytes.ptr, len);
        bytes = slice_of(bytes.ptr + len, bytes.len - len);
    }
    return ERR_OK;
}

enum err blob_put_end(struct blob_put *put, struct why *why) {
    uint32_t i;
    REQUIRE(put->state == PUT_OPEN);
    if (put->big == NULL) {
        blob_hash hash;
        enum err e = blob_settle_small(put->blobs, put->tenant, buf_slice(&put->whole), &hash, &i, why);
        if (e != ERR_OK) return e;
        blob_pin(put, i);
        put->state = PUT_SETTLED;
        return ERR_OK;
    }
    if (put->blobs->pool.count >= put->blobs->options.blobs_max)
        return why_set(why, ERR_LIMIT, "there are %u blobs: blobs_max is reached", put->blobs->options.blobs_max);
    if (put->whole.len > 0) chunk_close(put);
    put->state = PUT_ENDED;
    return ERR_OK;
}

void blob_put_drop(struct blob_put *put) {
    put->dropped = true;
    if (put->big == NULL || (put->state == PUT_SETTLED && !put->aboard)) big_put_free(put);
    /* else the next flush removes its file and frees it */
}

static bool has_work(const struct blob_put *put) {
    const struct big *g = put->big;
    if (g == NULL || put->state == PUT_SETTLED) return false;
    if (put->dropped && put->state < PUT_NAMING) return true;
    return put->chunks.count > 0 || g->chunks.count > 0 || put->state > PUT_OPEN;
}

bool big_flush_begin(struct blobs *b) {
    b->aboard.count = 0;
    b->big_err = ERR_OK;
    for (uint32_t i = 1; i <= b->puts.high; i++) {
        struct blob_put *put = pool_at(&b->puts, i);
        if (put->blobs == NULL || !has_work(put)) continue;
        struct big *g = put->big;
        for (uint32_t k = 0; k < put->chunks.count; k++)
            *(struct buf *)vec_push(&g->chunks) = *(struct buf *)vec_at(&put->chunks, k);
        put->chunks.count = 0;
        g->finish = put->state == PUT_ENDED;
        g->name = put->state == PUT_NAMING;
        g->remove = !g->name && (put->dropped || put->state == PUT_SYNCED);
        put->aboard = true;
        *(struct blob_put **)vec_push(&b->aboard) = put;
    }
    return b->aboard.count > 0;
}

/* The whole file is durable and its hash known: it becomes the blob, unless that is there already. */
static void settle(struct blobs *b, struct blob_put *put) {
    struct big *g = put->big;
    uint32_t i = blob_find(b, put->tenant, g->hash);
    if (i != 0) {
        blob_touch(b, i);
        blob_pin(put, i);
        put->state = PUT_SYNCED; /* its file goes with the next flush */
        return;
    }
    packs_adopt(b->packs, g->number, g->offset);
    i = blob_enter(b, put->tenant, g->hash, (struct pack_place){.pack = g->number}, g->bytes);
    ENSURE(i != 0);
    blob_at(b, i)->big = true;
    blob_at(b, i)->ticket = BLOB_UNNAMED;
    blob_pin(put, i);
    put->state = PUT_NAMING;
}

static void put_step(struct blobs *b, struct blob_put *put) {
    struct big *g = put->big;
    put->aboard = false;
    for (uint32_t k = 0; k < g->chunks.count; k++) {
        struct buf *chunk = vec_at(&g->chunks, k);
        if (k >= g->written) {
            *(struct buf *)vec_at(&g->chunks, k - g->written) = *chunk;
            continue;
        }
        b->big_pending_bytes -= chunk->len;
        buf_fini(chunk);
    }
    g->chunks.count -= g->written;
    g->written = 0;
    if (put->state == PUT_ENDED && g->finished && !put->dropped)
        settle(b, put);
    else if (put->state == PUT_SYNCED && !g->created)
        put->state = PUT_SETTLED;
    else if (put->state == PUT_NAMING && g->named) {
        blob_at(b, put->pinned)->ticket = 0;
        put->state = PUT_SETTLED;
    }
    if (put->dropped && (put->state == PUT_SETTLED || !g->created)) big_put_free(put);
}

enum err big_flush_end(struct blobs *b, struct why *why) {
    bool fatal = b->big_err != ERR_OK && b->big_err != ERR_NO_SPACE; /* then nothing of it can be relied on */
    for (uint32_t i = 0; i < b->aboard.count; i++) {
        struct blob_put *put = *(struct blob_put **)vec_at(&b->aboard, i);
        if (fatal)
            put->aboard = false;
        else
            put_step(b, put);
    }
    b->aboard.count = 0;
    if (b->big_err != ERR_OK) *why = b->big_why;
    return b->big_err;
}

/* ---- the other thread's side ---- */

static enum err block_write(struct blobs *b, struct big *g, struct slice payload, struct buf *out, struct why *why) {
    struct pack_block k = {.kind = PACK_DATA, .nonce = g->nonce, .flush = 0, .index = g->offsets.count};
    buf_clear(out);
    packfmt_block_encode(&k, payload, g->offset, b->zstd, out);
    enum err e = diskio_write(b->disk, g->file, g->offset, out->at, out->len, why);
    if (e != ERR_OK) return e;
    u32vec_push(&g->offsets, (uint32_t)(g->offset / PACK_BLOCK_ALIGN));
    g->offset = pack_block_end(g->offset, &k);
    return ERR_OK;
}

static enum err big_create(struct blobs *b, struct big *g, const char *unborn, struct why *why) {
    if (g->file.v >= 0) return ERR_OK;
    enum err e = b->disk->ops->open(b->disk, unborn, DISK_CREATE, &g->file, why);
    g->created = g->created || e == ERR_OK;
    return e;
}

static enum err header_write(struct blobs *b, struct big *g, struct buf *out, struct why *why) {
    buf_clear(out);
    packfmt_header_encode(&(struct pack_header){PACK_BIG, g->number, g->nonce, g->time_ms}, out);
    memset(buf_space(out, PACK_ALIGN - PACK_HEADER_BYTES), 0, PACK_ALIGN - PACK_HEADER_BYTES);
    return diskio_write(b->disk, g->file, 0, out->at, out->len, why);
}

static enum err chunks_write(struct blobs *b, struct big *g, struct buf *out, struct why *why) {
    struct buf payload;
    enum err e = g->offsets.count == 0 && g->written < g->chunks.count ? header_write(b, g, out, why) : ERR_OK;
    buf_init(&payload, PACK_BLOCK_RAW_MAX);
    while (e == ERR_OK && g->written < g->chunks.count) {
        struct slice bytes = buf_slice(vec_at(&g->chunks, g->written));
        uint32_t at;
        buf_clear(&payload);
        packfmt_entry_encode(BLOB_CHUNK, (struct slice){0}, bytes, &payload, &at);
        e = block_write(b, g, buf_slice(&payload), out, why);
        if (e != ERR_OK) break;
        b->digest->more(g->run, bytes);
        g->bytes += bytes.len;
        g->written++;
    }
    buf_fini(&payload);
    return e;
}

/* The end entry is in a block of its own, and in the footer: a start reads only that. */
static enum err end_write(struct blobs *b, struct big *g, struct buf *out, struct why *why) {
    struct buf head, payload, rows;
    if (g->run != NULL) b->digest->end(g->run, g->hash);
    g->run = NULL;
    buf_init(&head, PACK_HEAD_MAX);
    buf_init(&payload, PACK_BLOCK_RAW_MAX);
    buf_init(&rows, PACK_BLOCK_RAW_MAX);
    blob_head(g->tenant, g->hash, g->bytes, &head);
    struct pack_entry row = {.kind = BLOB_END, .block = g->offsets.count, .head = buf_slice(&head)};
    packfmt_entry_encode(BLOB_END, row.head, (struct slice){0}, &payload, &row.at);
    packfmt_row_encode(&row, &rows);
    uint64_t start = g->offset;
    enum err e = block_write(b, g, buf_slice(&payload), out, why);
    if (e == ERR_OK) {
        struct pack_block k = {.nonce = g->nonce, .index = g->offsets.count};
        buf_clear(out);
        uint64_t end = packfmt_end_encode(&k, g->offset, &g->offsets, buf_slice(&rows), b->zstd, out);
        e = diskio_write(b->disk, g->file, g->offset, out->at, out->len, why);
        if (e == ERR_OK) g->offset = end;
        if (e != ERR_OK) { /* a full disk: both again */
            g->offset = start;
            g->offsets.count--;
        }
    }
    buf_fini(&head);
    buf_fini(&payload);
    buf_fini(&rows);
    return e;
}

static enum err big_write(struct blobs *b, struct big *g, const char *unborn, struct buf *out, struct why *why) {
    enum err e = big_create(b, g, unborn, why);
    if (e == ERR_OK) e = chunks_write(b, g, out, why);
    if (e != ERR_OK || !g->finish) return e;
    e = end_write(b, g, out, why);
    if (e != ERR_OK) return e;
    if (b->disk->ops->sync(b->disk, g->file, why) != ERR_OK) return ERR_IO;
    b->disk->ops->close(b->disk, g->file);
    g->file.v = -1;
    g->finished = true;
    return ERR_OK;
}

static enum err big_step(struct blobs *b, struct big *g, struct buf *out, struct why *why) {
    char unborn[PACKIO_NAME_MAX], name[PACKIO_NAME_MAX];
    packio_name(unborn, BLOB_DIR, g->number, true);
    packio_name(name, BLOB_DIR, g->number, false);
    enum err e = ERR_OK;
    if (g->name) {
        e = b->disk->ops->rename(b->disk, unborn, name, why);
        g->named = e == ERR_OK;
    } else if (g->remove) {
        if (g->file.v >= 0) b->disk->ops->close(b->disk, g->file);
        g->file.v = -1;
        if (g->created && b->disk->ops->remove(b->disk, unborn, why) != ERR_OK) why->text[0] = 0; /* the next start */
        g->created = false;
    } else {
        e = big_write(b, g, unborn, out, why);
    }
    return e == ERR_OK ? e : why_wrap(why, e, "%s", unborn);
}

void big_flush_run(struct blobs *b) {
    struct buf out;
    bool named = false;
    buf_init(&out, PACK_OUT_MAX);
    for (uint32_t i = 0; i < b->aboard.count; i++) {
        struct big *g = (*(struct blob_put **)vec_at(&b->aboard, i))->big;
        struct why why;
        enum err e = big_step(b, g, &out, &why);
        named = named || g->name;
        if (e == ERR_OK || (b->big_err != ERR_OK && b->big_err != ERR_NO_SPACE)) continue;
        b->big_err = e;
        b->big_why = why;
    }
    buf_fini(&out);
    if (!named || (b->big_err != ERR_OK && b->big_err != ERR_NO_SPACE)) return;
    if (b->disk->ops->sync_dir(b->disk, BLOB_DIR, &b->big_why) != ERR_OK) b->big_err = ERR_IO;
}
