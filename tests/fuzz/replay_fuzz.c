/* replay_fuzz.c: records that nobody decided on, as they might come from a forged or foreign journal, through
 * engine_replay: each is refused or applied, never a panic; and every state they lead to survives a snapshot.
 *
 * The first byte chooses: even, what follows are frames as in a batch, each behind one byte of time; odd, what follows
 * draws records field by field from the tables, which gets deeper. */
#include <string.h>

#include "engine.h"
#include "limit.h"
#include "panic.h"
#include "state.h"
#include "tlvgen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORDS_MAX 400

struct replay {
    struct engine *engine;
    int64_t now_ms;
    uint64_t seed;
};

static void feed(struct replay *r, struct slice frame, uint8_t step) {
    r->now_ms += step * (int64_t)step * 10;
    struct batch b = {.first_lsn = engine_lsn(r->engine) + 1,
                      .last_lsn = engine_lsn(r->engine) + 1,
                      .epoch = UINT64_MAX, /* so that no record can raise it beyond the next batch */
                      .rules = RULES_VERSION,
                      .time = {r->now_ms},
                      .seed = r->seed++,
                      .records = frame};
    struct why why;
    (void)!engine_replay(r->engine, &b, &why);
}

static void raw_frames(struct replay *r, struct slice in) {
    struct cursor c = cursor_of(in);
    for (int i = 0; i < RECORDS_MAX && cursor_left(&c) > 1; i++) {
        uint8_t step = cursor_u8(&c);
        const uint8_t *start = c.at;
        (void)cursor_varint(&c);
        (void)cursor_varint(&c);
        (void)cursor_str(&c);
        if (c.bad) return;
        feed(r, slice_of(start, (size_t)(c.at - start)), step);
    }
}

/* Most graphs should be ones that can be: a job of its own name, options that make sense, parents before it. */
static void bias_jobs(struct tlvgen *g, struct tlv_list *profiles, struct tlv_list *jobs, uint32_t first) {
    struct options *sets = ARENA_ARRAY(g->arena, struct options, 3);
    options_default(&sets[2]); /* of what services run */
    sets[2].kind = JOB_SERVICE;
    for (uint32_t i = 0; i < 2; i++) {
        options_default(&sets[i]);
        sets[i].retries = (uint32_t)tlvgen_below(g, 3);
        sets[i].gates = (uint8_t)(tlvgen_below(g, 2) ? 0 : tlvgen_below(g, 64));
        sets[i].kind = (uint8_t)(tlvgen_below(g, 2) ? 0 : tlvgen_below(g, JOB_KIND_COUNT));
        if (tlvgen_below(g, 4) == 0) sets[i].kind = JOB_SERVICE;
        sets[i].healthy_within_ms = (int64_t)tlvgen_below(g, 3) * 1000;
        sets[i].on_upstream = (uint8_t)tlvgen_below(g, UPSTREAM_COUNT);
        sets[i].quorum = 1 + (uint32_t)tlvgen_below(g, 3);
        sets[i].delay_ms = (int64_t)tlvgen_below(g, 3) * 500;
        sets[i].deadline_ms = tlvgen_below(g, 4) ? 0 : 100000;
        sets[i].approval_ms = 1000;
        sets[i].dispatch_timeout_ms = 1000;
    }
    struct rec_job *list = jobs->at;
    for (uint32_t i = 0; i < jobs->count; i++) {
        uint32_t *parents = ARENA_ARRAY(g->arena, uint32_t, 2), count = 0;
        if (first + i > 0 && tlvgen_below(g, 2)) parents[count++] = (uint32_t)tlvgen_below(g, first + i);
        list[i].name = slice_of(&"abcdefghijklmnopqrstuvwxyz"[(first + i) % 26], 1);
        list[i].profile = i & 1;
        list[i].parents = (struct tlv_u32s){parents, count};
        if (tlvgen_below(g, 4)) list[i].foreign.count = 0;
        bool deploys = sets[i & 1].kind == JOB_SERVICE && tlvgen_below(g, 8);
        list[i].service = deploys ? slice_of(&"uv"[i & 1], 1) : slice_of(NULL, 0);
        list[i].runner_profile = deploys ? 3 : 0;
        if (deploys) list[i].undo_profile = 0;
    }
    *profiles = (struct tlv_list){sets, 3};
}

static void bias(struct tlvgen *g, struct record *r) {
    if (tlvgen_below(g, 8) == 0) return;
    if (r->kind == REC_SUBMITTED) {
        struct rec_submitted *b = &r->body.as_REC_SUBMITTED;
        b->head.tenant = SLICE("acme");
        b->key = slice_of(NULL, 0);
        bias_jobs(g, &b->profiles, &b->jobs, 0);
    } else if (r->kind == REC_ADDED) {
        bias_jobs(g, &r->body.as_REC_ADDED.profiles, &r->body.as_REC_ADDED.jobs, (uint32_t)tlvgen_below(g, 5));
    } else if (r->kind == REC_WORKER) {
        r->body.as_REC_WORKER.worker = SLICE("w");
        r->body.as_REC_WORKER.info.slots = 2;
    } else if (r->kind >= REC_STORE_SET && r->kind <= REC_STORE_EXPIRED) {
        r->body.head.tenant = SLICE("acme");
        if (tlvgen_below(g, 2)) r->body.as_REC_STORE_SET.flow = 0; /* the same place in all of them */
    } else if (r->kind == REC_SERVICE) {
        r->body.head.tenant = SLICE("acme");
        r->body.as_REC_SERVICE.name = slice_of(&"uv"[tlvgen_below(g, 2)], 1);
    } else if (r->kind == REC_ASSIGNED) {
        r->body.as_REC_ASSIGNED.worker = SLICE("w");
    }
}

static void drawn_records(struct replay *r, struct slice in) {
    struct tlvgen_bytes source = {in.ptr, in.ptr + in.len};
    struct arena arena;
    arena_init(&arena, 65536, (size_t)1 << 26);
    struct tlvgen g = {.draw = tlvgen_draw_byte, .ctx = &source, .arena = &arena, .small = true};
    struct buf frame;
    buf_init(&frame, (size_t)1 << 20);
    for (int i = 0; i < RECORDS_MAX && source.at < source.end; i++) {
        struct record record = {.version = RECORD_VERSION};
        static const enum record_kind kinds[] = {
#define X(kind, number, type, word, text) kind,
            RECORD_TABLE(X)
#undef X
        };
        record.kind = kinds[tlvgen_below(&g, sizeof kinds / sizeof *kinds)];
        tlvgen_fill(&g, record_desc(record.kind), &record.body);
        bias(&g, &record);
        if (record.kind == REC_SUBMITTED && (record.body.as_REC_SUBMITTED.flow & 7) < 5)
            record.body.as_REC_SUBMITTED.flow = engine_state(r->engine)->flow_last + 1; /* services make some too */
        buf_clear(&frame);
        record_encode(&record, &frame);
        feed(r, buf_slice(&frame), (uint8_t)tlvgen_draw_byte(&source));
        arena_reset(&arena);
    }
    buf_fini(&frame);
    arena_fini(&arena);
}

static enum err append(void *ctx, struct slice piece, struct why *why) {
    (void)why;
    buf_put_slice(ctx, piece);
    return ERR_OK;
}

static void check_snapshot(const struct engine *e, const struct limits *limits) {
    struct buf snapshot;
    struct why why;
    buf_init(&snapshot, (size_t)1 << 28);
    ENSURE(engine_snapshot(e, append, &snapshot, &why) == ERR_OK);
    struct engine *again = engine_new(0, limits);
    ENSURE(engine_load(again, buf_slice(&snapshot), &why) == ERR_OK);
    ENSURE(engine_load_end(again, &why) == ERR_OK);
    struct digest a = engine_digest(e), b = engine_digest(again);
    ENSURE(a.lo == b.lo && a.hi == b.hi);
    engine_free(again);
    buf_fini(&snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    struct limits limits;
    limits_default(&limits);
    struct replay r = {.engine = engine_new(0, &limits), .now_ms = 1000, .seed = data[1]};
    struct slice rest = slice_of(data + 1, size - 1);
    if (data[0] & 1)
        drawn_records(&r, rest);
    else
        raw_frames(&r, rest);
    check_snapshot(r.engine, &limits);
    engine_free(r.engine);
    return 0;
}
