/* request.c: see request.h. */
#include "request.h"

#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "panic.h"

#define LAYER_JOBS 100u
#define NAME_BYTES 24u

struct slice request_spec(void) {
    static uint8_t spec[REQUEST_SPEC_BYTES];
    static char argument[REQUEST_SPEC_BYTES];
    struct wire_arg argv[] = {{SLICE("/bin/echo")}, {slice_of(argument, 0)}};
    struct wire_run run = {.argv = {argv, 2}};
    struct buf out;
    memset(argument, 'x', sizeof argument);
    buf_init(&out, 2 * REQUEST_SPEC_BYTES);
    for (size_t len = 1; out.len < sizeof spec && len < sizeof argument; len++) {
        argv[1].text.len = len;
        buf_clear(&out);
        tlv_encode(&wire_run_desc, &run, &out);
    }
    ENSURE(out.len == sizeof spec);
    memcpy(spec, out.at, sizeof spec);
    buf_fini(&out);
    return slice_of(spec, sizeof spec);
}

static struct tlv_u32s span(struct arena *arena, uint32_t from, uint32_t count) {
    uint32_t *list = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) list[i] = from + i;
    return (struct tlv_u32s){list, count};
}

static struct tlv_u32s two_before(struct arena *arena, uint32_t job) {
    uint32_t layer = job / LAYER_JOBS;
    if (layer == 0) return (struct tlv_u32s){0};
    uint64_t chance = hash_mix(job);
    uint32_t first = (uint32_t)(chance % LAYER_JOBS), second = (uint32_t)(chance / LAYER_JOBS % (LAYER_JOBS - 1));
    if (second >= first) second++; /* another one */
    uint32_t low = first < second ? first : second, high = first < second ? second : first;
    uint32_t *list = ARENA_ARRAY(arena, uint32_t, 2);
    list[0] = (layer - 1) * LAYER_JOBS + low;
    list[1] = (layer - 1) * LAYER_JOBS + high;
    return (struct tlv_u32s){list, 2};
}

static struct tlv_u32s parents_of(struct arena *arena, enum request_shape shape, uint32_t job, uint32_t jobs) {
    switch (shape) {
    case REQUEST_FLAT: break;
    case REQUEST_CHAIN: return span(arena, job - 1, job > 0 ? 1 : 0);
    case REQUEST_FAN: return job + 1 < jobs ? span(arena, 0, job > 0 ? 1 : 0) : span(arena, 1, jobs - 2);
    case REQUEST_LAYERS: return two_before(arena, job);
    }
    return (struct tlv_u32s){0};
}

static void put(struct buf *out, const struct wire_flow *flows, uint32_t count) {
    struct wire_submit m = {{(void *)(uintptr_t)flows, count}};
    buf_clear(out);
    wire_put(out, WIRE_SUBMIT, 0, 1, &m);
    ENSURE(!out->full);
}

static struct slice number_name(struct arena *arena, const char *prefix, uint64_t number) {
    char *text = arena_alloc(arena, NAME_BYTES);
    snprintf(text, NAME_BYTES, "%s%llu", prefix, (unsigned long long)number);
    return slice_str(text);
}

void request_flow(struct buf *out, uint32_t jobs, enum request_shape shape, const struct request_job *job) {
    struct arena arena;
    arena_init(&arena, 1u << 20, 1u << 30);
    struct wire_options options = {.kind = job->kind};
    struct wire_job *list = ARENA_ARRAY(&arena, struct wire_job, jobs);
    for (uint32_t i = 0; i < jobs; i++)
        list[i] = (struct wire_job){
            .name = number_name(&arena, "j", i), .body = job->body, .parents = parents_of(&arena, shape, i, jobs)};
    struct wire_flow flow = {.name = SLICE("bench"), .part = {{&options, 1}, {list, jobs}, false}};
    put(out, &flow, 1);
    arena_fini(&arena);
}

void request_singles(struct buf *out, uint32_t flows, uint64_t key_first, const struct request_job *job) {
    struct arena arena;
    arena_init(&arena, 1u << 20, 1u << 30);
    struct wire_options options = {.kind = job->kind};
    struct wire_job one = {.name = SLICE("main"), .body = job->body};
    struct wire_flow *list = ARENA_ARRAY(&arena, struct wire_flow, flows);
    for (uint32_t i = 0; i < flows; i++) {
        list[i] = (struct wire_flow){.name = SLICE("bench"), .part = {{&options, 1}, {&one, 1}, false}};
        if (key_first > 0) list[i].key = number_name(&arena, "key-", key_first + i);
    }
    put(out, list, flows);
    arena_fini(&arena);
}
