/* store_fixture.c: see store_fixture.h. */
#include "store_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "osdigest.h"
#include "panic.h"

const struct slice store_fixture_tenant = {(const uint8_t *)"acme", 4};

/* Compresses, but not to nothing. */
uint8_t store_fixture_byte(uint64_t of, uint64_t at) {
    return (uint8_t)((at * at >> 7) % 13 * 17 + of * 7 + at % 5);
}

struct log_key store_fixture_key(uint32_t i) {
    return (struct log_key){.flow = 1000 + i, .shard = 1, .ordinal = i % 3, .attempt = 1 + i % 2};
}

void store_fixture_init(struct store_fixture *l, struct disk *disk) {
    *l = (struct store_fixture){.disk = disk};
    journal_fixture_clock_init(&l->clock, 7);
    limits_default(&l->limits);
    l->limits.pack_bytes = 32768;
    l->limits.vault_pending_bytes_max = 1 << 20;
    l->limits.vault_reserve_bytes = 0;
    l->limits.blob_grace_ms = 0;
}

enum err store_fixture_start(struct store_fixture *l) {
    l->why.text[0] = 0;
    enum err e = blob_log_store_open(&l->vault, l->disk, &l->clock.clock, osdigest(), &l->limits, false, &l->why);
    l->open = e == ERR_OK;
    return e;
}

void store_fixture_stop(struct store_fixture *l) {
    if (l->open) blob_log_store_close(&l->vault);
    l->open = false;
    memset(l->puts, 0, sizeof l->puts);
    memset(l->blob_ticket, 0, sizeof l->blob_ticket); /* tickets are of one life */
}

static uint8_t *fill(uint64_t of, uint64_t from, uint64_t bytes) {
    uint8_t *at = malloc(bytes + 1);
    ENSURE(at != NULL);
    for (uint64_t i = 0; i < bytes; i++) at[i] = store_fixture_byte(of, from + i);
    return at;
}

enum err store_fixture_blob(struct store_fixture *l, uint32_t i, uint64_t bytes) {
    struct blobs *b = l->vault.blobs;
    uint8_t *at = fill(i, 0, bytes);
    enum err e = ERR_OK;
    if (l->blob_bytes[i] == 0) {
        l->blob_bytes[i] = bytes;
        osdigest()->whole(osdigest(), slice_of(at, bytes), l->blob_hash[i].at);
    }
    l->blob_ticket[i] = UINT64_MAX;
    if (bytes <= BLOB_SMALL_BYTES && i % 2 == 0) {
        blob_hash hash;
        e = blobs_put(b, store_fixture_tenant, slice_of(at, bytes), &hash, &l->blob_ticket[i], &l->why);
        ENSURE(e != ERR_OK || memcmp(hash.at, l->blob_hash[i].at, DIGEST_BYTES) == 0);
    } else {
        struct blob_put *put;
        e = blob_put_begin(b, store_fixture_tenant, &put, &l->why);
        for (uint64_t o = 0; e == ERR_OK && o < bytes; o += 10000)
            e = blob_put_part(put, slice_of(at + o, bytes - o < 10000 ? bytes - o : 10000), &l->why);
        if (e == ERR_OK) e = blob_put_end(put, &l->why);
        if (e == ERR_OK) l->puts[i] = put;
    }
    free(at);
    return e;
}

enum err store_fixture_log(struct store_fixture *l, uint32_t i, uint64_t bytes) {
    struct log_key key = store_fixture_key(i);
    struct log_state s;
    joblogs_state(l->vault.logs, &key, &s);
    uint8_t *at = fill(100 + i, s.end, bytes);
    uint64_t half = bytes / 3;
    struct log_piece pieces[2] = {
        {LOG_STDOUT, {1700000000000 + (int64_t)s.end}, slice_of(at, half)},
        {LOG_STDERR, {1700000000000 + (int64_t)(s.end + half)}, slice_of(at + half, bytes - half)},
    };
    if (s.end + bytes > l->log_tried[i]) l->log_tried[i] = s.end + bytes;
    enum err e = joblogs_append(l->vault.logs, &key, s.end, pieces, 2, l->log_cap, &s, &l->why);
    free(at);
    return e;
}

static void promise(struct store_fixture *l) {
    for (uint32_t i = 0; i < STORE_FIXTURE_BLOBS; i++) {
        blob_hash hash;
        uint64_t bytes;
        if (l->puts[i] != NULL && blob_put_done(l->puts[i], &hash, &bytes)) {
            ENSURE(memcmp(hash.at, l->blob_hash[i].at, DIGEST_BYTES) == 0 && bytes == l->blob_bytes[i]);
            l->puts[i] = NULL;
            l->blob_acked[i] = true;
        }
        if (l->blob_ticket[i] != 0 && l->blob_ticket[i] <= blobs_durable(l->vault.blobs)) l->blob_acked[i] = true;
    }
    for (uint32_t i = 0; i < STORE_FIXTURE_LOGS; i++) {
        struct log_key key = store_fixture_key(i);
        struct log_state s;
        joblogs_state(l->vault.logs, &key, &s);
        if (s.synced && s.end > l->log_acked[i]) l->log_acked[i] = s.end;
    }
}

enum err store_fixture_flush(struct store_fixture *l) {
    enum err e = blob_log_store_step(&l->vault, &l->why);
    promise(l); /* also after a failure: nothing may be called durable then that is not */
    return e;
}

static void blob_check(struct store_fixture *l, struct pack_reader *r, uint32_t i) {
    uint64_t bytes = 0;
    enum err e = blobs_stat(l->vault.blobs, store_fixture_tenant, &l->blob_hash[i], &bytes, &l->why);
    if (e != ERR_OK) {
        ENSURE(e == ERR_NOT_FOUND);
        ENSURE(!l->blob_acked[i]);
        return;
    }
    ENSURE(bytes == l->blob_bytes[i]);
    l->blob_acked[i] = true;
    for (uint64_t at = 0; at < bytes;) {
        struct slice s;
        e = blobs_read(l->vault.blobs, r, store_fixture_tenant, &l->blob_hash[i], at, &s, &l->why);
        ENSURE(e == ERR_OK && s.len > 0);
        for (size_t k = 0; k < s.len; k++) ENSURE(s.ptr[k] == store_fixture_byte(i, at + k));
        at += s.len;
        l->bytes_checked += s.len;
    }
}

struct store_reading {
    uint32_t log;
    uint64_t at, bytes;
    const struct log_state *state;
};

static void piece_check(void *ctx, uint64_t offset, const struct log_piece *p) {
    struct store_reading *x = ctx;
    if (x->at == x->state->cut_begin) x->at = x->state->cut_end;
    ENSURE(offset == x->at);
    ENSURE(p->time.ms >= 1700000000000);
    for (size_t i = 0; i < p->bytes.len; i++) ENSURE(p->bytes.ptr[i] == store_fixture_byte(100 + x->log, offset + i));
    x->at += p->bytes.len;
    x->bytes += p->bytes.len;
}

static void log_check(struct store_fixture *l, struct pack_reader *r, uint32_t i) {
    struct log_key key = store_fixture_key(i);
    struct log_state s;
    joblogs_state(l->vault.logs, &key, &s);
    ENSURE(s.end >= l->log_acked[i] && s.end <= l->log_tried[i]);
    ENSURE(s.cut_end <= s.end);
    struct store_reading x = {.log = i, .state = &s};
    for (uint64_t at = 0;;) {
        uint64_t next = 0;
        enum err e = joblogs_read(l->vault.logs, r, &key, at, 3000, piece_check, &x, &next, &l->why);
        if (e != ERR_OK) (void)fprintf(stderr, "log %u: %s\n", i, l->why.text);
        ENSURE(e == ERR_OK);
        if (next == at) break;
        at = next;
    }
    ENSURE(x.at == s.end);
    ENSURE(x.bytes == s.end - (s.cut_end - s.cut_begin));
    l->log_acked[i] = s.end;
    l->bytes_checked += x.bytes;
}

void store_fixture_check(struct store_fixture *l) {
    struct pack_reader blobs, logs;
    blobs_reader_init(l->vault.blobs, &blobs);
    joblogs_reader_init(l->vault.logs, &logs);
    for (uint32_t i = 0; i < STORE_FIXTURE_BLOBS; i++)
        if (l->blob_bytes[i] != 0) blob_check(l, &blobs, i);
    for (uint32_t i = 0; i < STORE_FIXTURE_LOGS; i++) log_check(l, &logs, i);
    pack_reader_fini(&blobs);
    pack_reader_fini(&logs);
}
