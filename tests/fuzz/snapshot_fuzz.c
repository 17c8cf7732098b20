/* snapshot_fuzz.c: bytes that are no snapshot of ours are refused, never a panic. First byte even: raw bytes; odd:
 * objects drawn from the tables, with a true end, so that the loader gets to what only a whole stream reaches. */
#include <string.h>

#include "engine.h"
#include "limit.h"
#include "objects.h"
#include "panic.h"
#include "snapshot.h"
#include "tlvgen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OBJECTS_MAX 200

struct stream {
    struct buf bytes;
    struct digest digest;
    uint64_t objects;
};

static void put(struct stream *out, enum object_kind kind, const void *object) {
    struct buf message;
    buf_init(&message, (size_t)1 << 24);
    tlv_encode(object_desc(kind), object, &message);
    if (kind != OBJ_END) digest_add(&out->digest, kind, buf_slice(&message));
    if (kind != OBJ_END) out->objects++;
    buf_put_varint(&out->bytes, (uint64_t)kind);
    buf_put_str(&out->bytes, buf_slice(&message));
    buf_fini(&message);
}

/* Messages inside messages get bytes that mean something. */
static void fill_inner(struct tlvgen *g, enum object_kind kind, void *object) {
    if (kind == OBJ_POOL && tlvgen_below(g, 2))
        ((struct snap_pool *)object)->record = tlvgen_message(g, record_desc(REC_POOL));
    if (kind == OBJ_TOPIC) ((struct snap_topic *)object)->record = tlvgen_message(g, record_desc(REC_TOPIC));
    if (kind == OBJ_WORKER) ((struct snap_worker *)object)->record = tlvgen_message(g, record_desc(REC_WORKER));
    if (kind == OBJ_FLOW) ((struct snap_flow *)object)->head = tlvgen_message(g, &flow_head_desc);
    if (kind == OBJ_FLOW) ((struct snap_flow *)object)->rules = 1;
    if (kind != OBJ_JOBS) return;
    struct snap_jobs *jobs = object;
    struct snap_profile *profiles = jobs->profiles.at;
    struct snap_job *list = jobs->jobs.at;
    for (uint32_t i = 0; i < jobs->profiles.count; i++) profiles[i].options = tlvgen_message(g, &options_desc);
    for (uint32_t i = 0; i < jobs->jobs.count; i++) list[i].text = tlvgen_message(g, &rec_job_desc);
}

static void draw_stream(struct stream *out, struct slice in) {
    struct tlvgen_bytes source = {in.ptr, in.ptr + in.len};
    struct arena arena;
    arena_init(&arena, 65536, (size_t)1 << 26);
    struct tlvgen g = {.draw = tlvgen_draw_byte, .ctx = &source, .arena = &arena, .small = true};
    struct snap_header header = {
        .epoch = 1, .lsn = 100, .now_ms = 1000, .flow_last = 10, .question_last = 10, .worker_last = 10};
    put(out, OBJ_HEADER, &header);
    for (int i = 0; i < OBJECTS_MAX && source.at < source.end; i++) {
        static const enum object_kind kinds[] = {
#define X(kind, number, type, word, text) kind,
            OBJECT_TABLE(X)
#undef X
        };
        enum object_kind kind = kinds[tlvgen_below(&g, sizeof kinds / sizeof *kinds)];
        const struct tlv_desc *desc = object_desc(kind);
        if (desc == NULL) continue; /* numbers have gaps */
        void *object = arena_alloc(&arena, desc->size);
        tlvgen_fill(&g, desc, object);
        fill_inner(&g, kind, object);
        put(out, kind, object);
        arena_reset(&arena);
    }
    struct snap_end end = {out->objects, out->digest.lo, out->digest.hi};
    put(out, OBJ_END, &end);
    arena_fini(&arena);
}

static enum err ignore(void *ctx, struct slice piece, struct why *why) {
    (void)ctx, (void)piece, (void)why;
    return ERR_OK;
}

static void load(struct slice bytes, size_t piece_bytes) {
    struct limits limits;
    limits_default(&limits);
    struct engine *e = engine_new(0, &limits);
    struct why why;
    enum err err = ERR_OK;
    for (size_t at = 0; at < bytes.len && err == ERR_OK; at += piece_bytes) {
        size_t len = bytes.len - at < piece_bytes ? bytes.len - at : piece_bytes;
        err = engine_load(e, slice_of(bytes.ptr + at, len), &why);
    }
    if (bytes.len > 0 && err == ERR_OK) err = engine_load_end(e, &why);
    if (bytes.len > 0 && err == ERR_OK) {
        (void)engine_digest(e);
        ENSURE(engine_snapshot(e, ignore, NULL, &why) == ERR_OK);
    }
    engine_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    struct slice rest = slice_of(data + 1, size - 1);
    if (!(data[0] & 1)) {
        load(rest, 1 + data[0]);
        return 0;
    }
    struct stream out = {.digest = {0, 0}};
    buf_init(&out.bytes, (size_t)1 << 26);
    draw_stream(&out, rest);
    load(buf_slice(&out.bytes), 4096);
    buf_fini(&out.bytes);
    return 0;
}
