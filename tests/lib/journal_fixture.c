/* journal_fixture.c: see journal_fixture.h. */
#include "journal_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "inspect.h"
#include "panic.h"

static wall_time wall(struct clock *c) {
    return (wall_time){((struct journal_fixture_clock *)c)->ms};
}

static mono_time mono(struct clock *c) {
    return (mono_time){((struct journal_fixture_clock *)c)->ms};
}

static uint64_t random64(struct clock *c) {
    struct journal_fixture_clock *k = (struct journal_fixture_clock *)c;
    return hash_mix(k->state += 0x9e3779b97f4a7c15ULL);
}

void journal_fixture_clock_init(struct journal_fixture_clock *c, uint64_t seed) {
    *c = (struct journal_fixture_clock){{wall, mono, random64, NULL}, 1700000000000, seed};
}

void journal_fixture_init(struct journal_fixture *l, struct disk *disk, uint64_t segment_bytes) {
    static uint64_t lives; /* no two lives draw the same nonces, as with a real clock */
    *l = (struct journal_fixture){.disk = disk};
    journal_fixture_clock_init(&l->clock, hash_mix(++lives));
    file_options_default(&l->options);
    l->options.segment_bytes = segment_bytes;
    l->options.reserve_bytes = 0;
}

void journal_fixture_fill(uint8_t *to, size_t len, uint64_t lsn) {
    for (size_t i = 0; i < len; i++) to[i] = (uint8_t)(hash_mix(lsn * 1000003 + i / 8) >> (8 * (i % 8)));
}

static bool is_fill(const uint8_t *at, size_t len, uint64_t lsn) {
    uint8_t *want = malloc(len + 1);
    ENSURE(want != NULL);
    journal_fixture_fill(want, len, lsn);
    bool same = len == 0 || memcmp(want, at, len) == 0;
    free(want);
    return same;
}

static enum err batch_in(void *ctx, const struct batch *b, struct why *why) {
    struct journal_fixture *l = ctx;
    (void)why;
    ENSURE(l->read_lsn == 0 || b->first_lsn == l->read_lsn + 1);
    ENSURE(b->last_lsn >= b->first_lsn);
    ENSURE(b->records.len == 0 || is_fill(b->records.ptr, b->records.len, b->first_lsn));
    ENSURE(b->seed == hash_mix(b->first_lsn));
    l->read_lsn = b->last_lsn;
    l->read_count++;
    return ERR_OK;
}

enum err journal_fixture_read(struct journal_fixture *l, uint64_t from_lsn) {
    l->read_lsn = from_lsn > 0 ? from_lsn - 1 : 0;
    l->read_count = 0;
    return l->journal->ops->read(l->journal, from_lsn, UINT64_MAX, batch_in, l, &l->why);
}

struct snap_sink {
    struct byte_sink sink;
    uint8_t *bytes;
    size_t len;
};

static enum err snap_more(struct byte_sink *s, const void *from, size_t len, struct why *why) {
    struct snap_sink *k = (struct snap_sink *)s;
    (void)why;
    k->bytes = realloc(k->bytes, k->len + len);
    ENSURE(k->bytes != NULL);
    memcpy(k->bytes + k->len, from, len);
    k->len += len;
    return ERR_OK;
}

static enum err snapshot_check(struct journal_fixture *l, struct snapshot_info *ret) {
    struct snap_sink k = {.sink = {snap_more}};
    enum err e = l->journal->ops->snapshot_get(l->journal, 0, ret, &k.sink, &l->why);
    if (e == ERR_OK && ret->lsn > 0) ENSURE(is_fill(k.bytes, k.len, ret->lsn));
    free(k.bytes);
    return e;
}

enum err journal_fixture_open(struct journal_fixture *l) {
    if (l->ram != NULL) return ram_open(l->ram, &l->journal, &l->why);
    if (l->reads) return file_reader(l->disk, &l->journal, &l->why);
    return file_open(l->disk, &l->clock.clock, &l->options, &l->journal, &l->why);
}

enum err journal_fixture_start(struct journal_fixture *l) {
    struct snapshot_info info = {0};
    enum err e = journal_fixture_open(l);
    if (e != ERR_OK) {
        l->journal = NULL;
        return e;
    }
    e = snapshot_check(l, &info);
    if (e == ERR_OK) e = journal_fixture_read(l, info.lsn + 1);
    if (e == ERR_OK && !l->reads) e = l->journal->ops->acquire(l->journal, 0, &l->head, &l->why);
    if (e != ERR_OK) journal_fixture_stop(l);
    if (e == ERR_OK && !l->reads) ENSURE(l->head.lsn == l->read_lsn);
    return e;
}

void journal_fixture_stop(struct journal_fixture *l) {
    if (l->journal != NULL) l->journal->ops->close(l->journal);
    l->journal = NULL;
}

enum journal_outcome journal_fixture_append(struct journal_fixture *l, uint32_t records, size_t bytes) {
    uint64_t first = l->head.lsn + 1;
    uint8_t *payload = malloc(bytes + 1);
    ENSURE(payload != NULL);
    journal_fixture_fill(payload, bytes, first);
    if (l->head.time.ms < l->clock.ms) l->head.time.ms = l->clock.ms;
    struct batch b = {.first_lsn = first,
                      .last_lsn = first + records - 1,
                      .epoch = l->head.epoch,
                      .rules = RULES_VERSION,
                      .time = l->head.time,
                      .seed = hash_mix(first),
                      .records = slice_of(payload, bytes)};
    enum journal_outcome o = l->journal->ops->append(l->journal, l->head.epoch, l->head.lsn, &b, &l->why);
    if (o == JOURNAL_DURABLE) l->head.lsn = b.last_lsn;
    free(payload);
    return o;
}

void journal_fixture_append_ok(struct journal_fixture *l, uint32_t records, size_t bytes) {
    enum journal_outcome o = journal_fixture_append(l, records, bytes);
    ENSURE(o == JOURNAL_DURABLE);
}

struct snap_source {
    struct byte_source source;
    uint8_t *bytes;
    size_t len, at;
};

static enum err source_more(struct byte_source *s, void *to, size_t len, size_t *ret, struct why *why) {
    struct snap_source *k = (struct snap_source *)s;
    (void)why;
    if (len > k->len - k->at) len = k->len - k->at;
    memcpy(to, k->bytes + k->at, len);
    k->at += len;
    *ret = len;
    return ERR_OK;
}

enum err journal_fixture_snapshot(struct journal_fixture *l, uint64_t lsn, size_t bytes) {
    struct snap_source k = {.source = {source_more}, .bytes = malloc(bytes + 1), .len = bytes};
    ENSURE(k.bytes != NULL);
    journal_fixture_fill(k.bytes, bytes, lsn);
    struct snapshot_info info = {lsn, l->head.epoch, l->head.time};
    enum err e = l->journal->ops->snapshot_put(l->journal, &info, &k.source, &l->why);
    free(k.bytes);
    return e;
}

static struct journal *reader_of(struct disk *disk) {
    struct journal *reader;
    struct why why;
    ENSURE(file_reader(disk, &reader, &why) == ERR_OK);
    return reader;
}

enum err journal_fixture_verify(struct disk *disk, struct journal_report *ret, struct why *why) {
    struct journal *reader = reader_of(disk);
    enum err e = reader->ops->verify(reader, ret, why);
    reader->ops->close(reader);
    return e;
}

enum err journal_fixture_fold(struct disk *disk, uint64_t upto, struct fold *ret, struct why *why) {
    struct journal *reader = reader_of(disk);
    enum err e = fold_run(reader, upto, ret, why);
    reader->ops->close(reader);
    return e;
}

enum err journal_fixture_follow(struct disk *disk, fold_fn before, void *ctx, struct fold *ret, struct why *why) {
    struct journal *reader = reader_of(disk);
    enum err e = fold_follow(reader, UINT64_MAX, before, ctx, ret, why);
    reader->ops->close(reader);
    return e;
}

enum err journal_fixture_dump(struct disk *disk, uint64_t from, uint64_t to, struct byte_sink *out, struct why *why) {
    struct journal *reader = reader_of(disk);
    enum err e = inspect_dump(reader, from, to, out, why);
    reader->ops->close(reader);
    return e;
}
