/* proofeye.c: see proofeye.h. */
#include "proofeye.h"

#include "buf.h"
#include "osdigest.h"
#include "record.h"
#include "simsigner.h"
#include "world.h"

#define MESSAGE_BYTES_MAX ((size_t)64 << 20)

/* ---- the hashes of proof.md ---- */

static void hash(const struct buf *bytes, uint8_t ret[DIGEST_BYTES]) {
    struct hasher *d = osdigest();
    d->whole(d, buf_slice(bytes), ret);
}

static void chain_begin(struct buf *b, uint32_t shard, uint64_t first_lsn, uint8_t ret[DIGEST_BYTES]) {
    buf_clear(b);
    buf_put_u8(b, 0);
    buf_put_slice(b, SLICE("reeve journal"));
    buf_put_u32(b, shard);
    buf_put_u64(b, first_lsn);
    hash(b, ret);
}

static void chain_go(struct buf *b, const struct batch *batch, uint8_t chain[DIGEST_BYTES]) {
    struct buf head;
    struct cursor c = cursor_of(batch->records);
    uint8_t one[DIGEST_BYTES];
    buf_init(&head, MESSAGE_BYTES_MAX);
    buf_put_u8(&head, 2);
    buf_put_u32(&head, batch->shard);
    buf_put_u32(&head, batch->rules);
    buf_put_u64(&head, batch->first_lsn);
    buf_put_u64(&head, batch->last_lsn);
    buf_put_u64(&head, batch->epoch);
    buf_put_u64(&head, (uint64_t)batch->time.ms);
    buf_put_u64(&head, batch->seed);
    buf_put_u64(&head, batch->last_lsn - batch->first_lsn + 1);
    while (cursor_left(&c) > 0) {
        const uint8_t *from = c.at;
        (void)cursor_varint(&c);
        (void)cursor_varint(&c);
        (void)cursor_str(&c);
        buf_clear(b);
        buf_put_u8(b, 1);
        buf_put(b, from, (size_t)(c.at - from));
        hash(b, one);
        buf_put(&head, one, sizeof one);
    }
    hash(&head, one);
    buf_clear(b);
    buf_put_u8(b, 3);
    buf_put(b, chain, DIGEST_BYTES);
    buf_put(b, one, sizeof one);
    hash(b, chain);
    buf_fini(&head);
}

/* ---- checkpoints ---- */

static void check_signature(struct world *w, struct buf *b, uint32_t shard, const struct rec_checkpoint *r) {
    buf_clear(b);
    buf_put_slice(b, SLICE("reeve checkpoint 1\n"));
    buf_put_u32(b, shard);
    buf_put_u64(b, r->number);
    buf_put_u64(b, r->from_lsn);
    buf_put_u64(b, r->upto_lsn);
    buf_put_slice(b, r->chain);
    if (!simsigner_checker.is_right(&simsigner_checker, r->key.ptr, buf_slice(b), r->signature.ptr))
        world_red(w, "checkpoint", "number %lu: the signature is not right", (unsigned long)r->number);
}

static void check(struct proofeye *p, struct world *w, const struct simlog *log, const struct rec_checkpoint *r) {
    struct buf b;
    uint64_t at = r->from_lsn;
    uint32_t shard = 0;
    buf_init(&b, MESSAGE_BYTES_MAX);
    if (r->number != p->number + 1 || (p->number != 0 && r->from_lsn != p->upto_lsn + 1))
        world_red(w, "checkpoint", "number %lu from LSN %lu follows number %lu up to %lu", (unsigned long)r->number,
                  (unsigned long)r->from_lsn, (unsigned long)p->number, (unsigned long)p->upto_lsn);
    for (uint32_t i = 0; i < log->batches.count; i++) {
        const struct batch *batch = vec_at(&log->batches, i);
        if (batch->first_lsn != at || at > r->upto_lsn) continue;
        shard = batch->shard;
        if (at == r->from_lsn && p->number == 0) chain_begin(&b, shard, at, p->chain);
        chain_go(&b, batch, p->chain);
        at = batch->last_lsn + 1;
    }
    if (at != r->upto_lsn + 1)
        world_red(w, "checkpoint", "number %lu: no batch ends with LSN %lu", (unsigned long)r->number,
                  (unsigned long)r->upto_lsn);
    if (!slice_eq(r->chain, slice_of(p->chain, sizeof p->chain)))
        world_red(w, "checkpoint", "number %lu: LSN %lu to %lu have another hash than it says",
                  (unsigned long)r->number, (unsigned long)r->from_lsn, (unsigned long)r->upto_lsn);
    check_signature(w, &b, shard, r);
    p->number = r->number;
    p->upto_lsn = r->upto_lsn;
    buf_fini(&b);
}

void proofeye_look(struct proofeye *p, struct world *w, const struct simlog *log) {
    for (; p->seen < log->batches.count; p->seen++) {
        const struct batch *batch = vec_at(&log->batches, p->seen);
        struct cursor c = cursor_of(batch->records);
        struct arena arena;
        arena_init(&arena, 4096, MESSAGE_BYTES_MAX);
        while (cursor_left(&c) > 0) {
            struct cursor one = c;
            enum record_kind kind;
            struct slice message;
            struct record r;
            struct why why;
            if (!record_pass(&c, &kind, &message)) world_red(w, "journal", "bytes that are no record");
            if (kind != REC_CHECKPOINT) continue;
            if (record_decode(&one, &arena, &r, &why) != ERR_OK) world_red(w, "journal", "%s", why.text);
            check(p, w, log, &r.body.as_REC_CHECKPOINT);
        }
        arena_fini(&arena);
    }
}
