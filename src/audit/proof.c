/* proof.c: see proof.h. */
#include "proof.h"

#include <stdio.h>
#include <string.h>

#include "mutant.h"
#include "panic.h"
#include "record.h"

_Static_assert(CHECKPOINT_HASH_BYTES == DIGEST_BYTES && CHECKPOINT_HASH_BYTES == SIGNER_KEY_BYTES, "one length");
_Static_assert(CHECKPOINT_SIGNATURE_BYTES == SIGNER_SIGNATURE_BYTES, "one length");

enum proof_of { OF_NOTHING, OF_RECORD, OF_BATCH, OF_CHAIN }; /* the first byte: no hash of one kind is one of another */

#define BATCH_HEAD_BYTES 57u

static void u64_put(uint8_t *to, uint64_t v, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++) to[i] = (uint8_t)(v >> (8 * i));
}

void proof_begin(struct hasher *d, uint32_t shard, uint64_t first_lsn, uint8_t ret[DIGEST_BYTES]) {
    uint8_t bytes[1 + 13 + 4 + 8] = {OF_NOTHING};
    memcpy(bytes + 1, "reeve journal", 13);
    u64_put(bytes + 14, shard, 4);
    u64_put(bytes + 18, first_lsn, 8);
    d->whole(d, slice_of(bytes, sizeof bytes), ret);
}

void proof_record(struct hasher *d, struct slice record, uint8_t ret[DIGEST_BYTES]) {
    const uint8_t of = OF_RECORD;
    struct digest_run *r = d->begin(d);
    d->more(r, slice_of(&of, 1));
    d->more(r, record);
    d->end(r, ret);
}

void proof_batch(struct hasher *d, const struct batch *b, struct slice hashes, uint8_t ret[DIGEST_BYTES]) {
    uint8_t head[BATCH_HEAD_BYTES] = {OF_BATCH};
    REQUIRE(hashes.len == (b->last_lsn - b->first_lsn + 1) * DIGEST_BYTES);
    u64_put(head + 1, b->shard, 4);
    u64_put(head + 5, b->rules, 4);
    u64_put(head + 9, b->first_lsn, 8);
    u64_put(head + 17, b->last_lsn, 8);
    u64_put(head + 25, b->epoch, 8);
    u64_put(head + 33, (uint64_t)b->time.ms, 8);
    u64_put(head + 41, b->seed, 8);
    u64_put(head + 49, hashes.len / DIGEST_BYTES, 8);
    struct digest_run *r = d->begin(d);
    d->more(r, slice_of(head, sizeof head));
    if (MUTANT(checkpoint_over_less)) hashes = slice_of(hashes.ptr + DIGEST_BYTES, hashes.len - DIGEST_BYTES);
    d->more(r, hashes);
    d->end(r, ret);
}

void proof_extend(struct hasher *d, uint8_t chain[DIGEST_BYTES], const uint8_t batch[DIGEST_BYTES]) {
    uint8_t bytes[1 + 2 * DIGEST_BYTES] = {OF_CHAIN};
    memcpy(bytes + 1, chain, DIGEST_BYTES);
    memcpy(bytes + 1 + DIGEST_BYTES, batch, DIGEST_BYTES);
    d->whole(d, slice_of(bytes, sizeof bytes), chain);
}

enum err proof_hashes(struct hasher *d, const struct batch *b, struct buf *ret, struct why *why) {
    struct cursor c = cursor_of(b->records);
    for (uint64_t lsn = b->first_lsn; lsn <= b->last_lsn; lsn++) {
        enum record_kind kind;
        struct slice message;
        const uint8_t *from = c.at;
        if (!record_pass(&c, &kind, &message))
            return why_set(why, ERR_CORRUPT, "record %llu: its bytes are no record", (unsigned long long)lsn);
        uint8_t *to = buf_space(ret, DIGEST_BYTES);
        ENSURE(to != NULL);
        proof_record(d, slice_of(from, (size_t)(c.at - from)), to);
    }
    if (cursor_left(&c) == 0) return ERR_OK;
    return why_set(why, ERR_CORRUPT, "record %llu is followed by bytes that are no record",
                   (unsigned long long)b->last_lsn);
}

size_t proof_message(uint32_t shard, const struct checkpoint *c, uint8_t ret[PROOF_MESSAGE_BYTES]) {
    static const char title[] = "reeve checkpoint 1\n";
    size_t len = sizeof title - 1;
    memcpy(ret, title, len);
    u64_put(ret + len, shard, 4);
    u64_put(ret + len + 4, c->number, 8);
    u64_put(ret + len + 12, c->from_lsn, 8);
    u64_put(ret + len + 20, c->upto_lsn, 8);
    memcpy(ret + len + 28, c->chain, DIGEST_BYTES);
    len += 28 + DIGEST_BYTES;
    ENSURE(len <= PROOF_MESSAGE_BYTES);
    return len;
}

void proof_sign(struct signer *s, uint32_t shard, struct checkpoint *c) {
    uint8_t message[PROOF_MESSAGE_BYTES];
    s->key(s, c->key);
    s->sign(s, slice_of(message, proof_message(shard, c, message)), c->signature);
}

bool proof_is_signed(const struct sign_checker *s, uint32_t shard, const struct checkpoint *c) {
    uint8_t message[PROOF_MESSAGE_BYTES];
    return s->is_right(s, c->key, slice_of(message, proof_message(shard, c, message)), c->signature);
}
