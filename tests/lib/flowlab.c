/* flowlab.c: see flowlab.h. */
#include "flowlab.h"

#include "hash.h"
#include "limit.h"
#include "yaml_tree.h"

void flowlab_init(struct flowlab *l) {
    *l = (struct flowlab){0};
    arena_init(&l->arena, 65536, (size_t)256 << 20);
}

void flowlab_fini(struct flowlab *l) {
    arena_fini(&l->arena);
}

static enum err file(void *ctx, struct slice path, struct spec_file *ret, struct why *why) {
    static const uint8_t hash[SPEC_HASH_BYTES] = {1, 2, 3};
    (void)ctx;
    if (slice_eq(path, SLICE("x.py")))
        *ret = (struct spec_file){.bytes = SLICE("print(1)\n")};
    else if (slice_eq(path, SLICE("in.txt")))
        *ret = (struct spec_file){.bytes = SLICE("one\ntwo\n")};
    else if (slice_eq(path, SLICE("big.sh")))
        *ret = (struct spec_file){.hash = slice_of(hash, sizeof hash)};
    else
        return why_set(why, ERR_NOT_FOUND, "%.*s: No such file or directory", SLICE_FMT(path));
    return ERR_OK;
}

static enum err text_file(void *ctx, struct slice path, struct slice *ret, struct why *why) {
    (void)ctx;
    if (!slice_eq(path, SLICE("days.txt")))
        return why_set(why, ERR_NOT_FOUND, "%.*s: No such file or directory", SLICE_FMT(path));
    *ret = SLICE("2026-12-24 Christmas Eve\n2026-12-25\n");
    return ERR_OK;
}

static void hash(void *ctx, struct slice bytes, uint8_t ret[SPEC_HASH_BYTES]) {
    (void)ctx;
    for (uint64_t i = 0; i < SPEC_HASH_BYTES / 8; i++) {
        uint64_t h = hash64(bytes.ptr, bytes.len, i);
        memcpy(ret + i * 8, &h, 8);
    }
}

static uint32_t split(const char *text, struct spec_given given[8]) {
    uint32_t count = 0;
    while (text != NULL && *text != 0 && count < 8) {
        const char *equals = strchr(text, '='), *end = strchrnul(text, ' ');
        given[count++] = (struct spec_given){.name = slice_of(text, (size_t)(equals - text)),
                                             .value = slice_of(equals + 1, (size_t)(end - equals - 1))};
        text = *end != 0 ? end + 1 : end;
    }
    return count;
}

enum err flowlab_read(struct flowlab *l, struct slice text, const char *params) {
    struct limits limits;
    struct spec_given given[8];
    struct spec_input in = {.source = {.name = "flow.yaml", .text = text},
                            .world = {.file = file, .text = text_file, .hash = hash, .now_ms = FLOWLAB_NOW_MS},
                            .given = given,
                            .grows = l->grows,
                            .has_slot = l->has_slot,
                            .given_count = split(params, given)};
    limits_default(&limits);
    arena_reset(&l->arena);
    l->why = (struct why){{0}};
    bool is_json = text.len > 0 && text.ptr[0] == '{';
    enum err e = is_json ? json_tree_read(text, &limits, &l->arena, &in.source.root, &l->why)
                         : yaml_tree_read(text, &limits, &l->arena, &in.source.root, &l->why);
    return e == ERR_OK ? spec_read_scheduled(&in, &l->arena, &l->flow, &l->schedule, &l->why) : e;
}

const struct wire_job *flowlab_job(const struct flowlab *l, const char *name) {
    const struct wire_job *jobs = l->flow.part.jobs.at;
    for (uint32_t i = 0; i < l->flow.part.jobs.count; i++)
        if (slice_eq(jobs[i].name, slice_str(name))) return &jobs[i];
    return NULL;
}

const struct wire_options *flowlab_options(const struct flowlab *l, const char *name) {
    const struct wire_job *job = flowlab_job(l, name);
    return job != NULL ? &((const struct wire_options *)l->flow.part.options.at)[job->options] : NULL;
}

struct wire_run flowlab_run(struct flowlab *l, const char *name) {
    struct wire_run run = {0};
    (void)!tlv_decode(&wire_run_desc, flowlab_job(l, name)->body, TLV_STRICT, &l->arena, &run, NULL);
    return run;
}
