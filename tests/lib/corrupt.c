/* corrupt.c: see corrupt.h. */
#include "corrupt.h"

#include "snapshot.h"

struct batch corrupt_batch(const struct engine *e, struct slice records) {
    return (struct batch){.first_lsn = engine_lsn(e) + 1,
                          .last_lsn = engine_lsn(e) + 1,
                          .epoch = 100,
                          .rules = RULES_VERSION,
                          .time = {2000000000000},
                          .records = records};
}

enum err corrupt_replay(const struct fixture *r, const struct record *record, struct why *why) {
    struct engine *e = fixture_replay(r);
    struct buf frame;
    buf_init(&frame, 1 << 20);
    record_encode(record, &frame);
    struct batch b = corrupt_batch(e, buf_slice(&frame));
    enum err err = engine_replay(e, &b, why);
    buf_fini(&frame);
    engine_free(e);
    return err;
}

static enum err gather(void *ctx, struct slice piece, struct why *why) {
    (void)why;
    buf_put_slice(ctx, piece);
    return ERR_OK;
}

void corrupt_begin(struct corrupt *f, const struct fixture *r) {
    struct why why;
    memset(f, 0, sizeof *f);
    f->rig = r;
    buf_init(&f->snapshot, 1 << 24);
    buf_init(&f->changed, 1 << 24);
    arena_init(&f->arena, 4096, 1 << 24);
    assert_ok(engine_snapshot(r->engine, gather, &f->snapshot, &why));
    f->left = cursor_of(buf_slice(&f->snapshot));
}

struct slice corrupt_bytes(struct corrupt *f, const struct tlv_desc *desc, const void *value) {
    struct buf message;
    buf_init(&message, 1 << 20);
    tlv_encode(desc, value, &message);
    struct slice copy = arena_slice(&f->arena, buf_slice(&message));
    buf_fini(&message);
    return copy;
}

static void put(struct corrupt *f) {
    if (f->kind == OBJ_END) f->object.as_snap_end = (struct snap_end){f->objects, f->digest.lo, f->digest.hi};
    struct slice bytes = corrupt_bytes(f, object_desc(f->kind), &f->object);
    for (uint32_t i = 0; i < f->copies; i++) {
        digest_add(&f->digest, f->kind, bytes);
        f->objects++;
        buf_put_varint(&f->changed, (uint64_t)f->kind);
        buf_put_str(&f->changed, bytes);
    }
}

bool corrupt_next(struct corrupt *f) {
    struct why why = {""};
    if (f->kind) put(f);
    if (cursor_left(&f->left) == 0) return false;
    f->kind = (enum object_kind)cursor_varint(&f->left);
    f->copies = 1;
    memset(&f->object, 0, sizeof f->object);
    assert_ok(tlv_decode(object_desc(f->kind), cursor_str(&f->left), TLV_STRICT, &f->arena, &f->object, &why));
    return true;
}

void corrupt_end(struct corrupt *f, const char *word, int line) {
    struct why why = {""};
    struct engine *e = engine_new(0, &f->rig->limits);
    enum err err = engine_load(e, buf_slice(&f->changed), &why);
    if (err == ERR_OK) err = engine_load_end(e, &why);
    engine_free(e);
    arena_fini(&f->arena);
    buf_fini(&f->snapshot);
    buf_fini(&f->changed);
    if (word == NULL && err != ERR_OK) fail_msg("line %d: refused: %s", line, why.text);
    if (word && err == ERR_OK) fail_msg("line %d: taken, and should not be: %s", line, word);
    if (word && !strstr(why.text, word)) fail_msg("line %d: \"%s\" does not say \"%s\"", line, why.text, word);
}
