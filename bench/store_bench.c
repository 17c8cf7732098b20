/* store_bench.c: the shared store without a disk. Timed by the processor time of the thread, so that a busy machine
 * does not blur it; every figure stands beside a floor of the same run.
 *
 *   set      new keys, then the same keys again, through decide, encode, decode, apply; floor: the same bytes through
 *            the table of names alone (one look-up, one insertion)
 *   get      random keys by view_item
 *   page     keys by view_items, 100 at a time
 *   add      members to one set
 *   replay   the records of all of it through engine_replay
 *   memory   bytes of heap per key of 16 bytes with a value of 16 bytes, per number, and per member of 16 bytes
 *
 * Usage: store_bench [--quick] */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "hash.h"
#include "limit.h"
#include "map.h"
#include "panic.h"
#include "vec.h"
#include "view_store.h"

#define PER_PASS 100u

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t heap_now(void) {
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

struct lab {
    struct engine *engine;
    struct limits limits;
    struct inputs in;
    struct buf journal;
    struct vec batches; /* of struct batch; records by offset */
    bool keep;
    uint64_t answers;
};

static void lab_init(struct lab *l, bool keep) {
    *l = (struct lab){.in = {{1700000000000}, {0}, 1, UINT64_MAX}, .keep = keep};
    limits_default(&l->limits);
    buf_init(&l->journal, (size_t)1 << 34);
    vec_init(&l->batches, sizeof(struct batch));
    l->engine = engine_new(0, &l->limits);
    engine_resume(l->engine, 1, SLICE("bench"), &l->in);
}

static void lab_fini(struct lab *l) {
    engine_free(l->engine);
    buf_fini(&l->journal);
    vec_fini(&l->batches);
}

static void finish(struct lab *l) {
    struct batch b;
    struct effect effect;
    engine_finish(l->engine);
    if (engine_batch(l->engine, &b)) {
        if (l->keep) {
            struct batch *kept = vec_push(&l->batches);
            *kept = b;
            kept->records.ptr = (const uint8_t *)(uintptr_t)l->journal.len;
            buf_put_slice(&l->journal, b.records);
        }
        engine_durable(l->engine, b.last_lsn);
    }
    while (engine_effect(l->engine, &effect))
        if (effect.kind == EFFECT_ANSWER && effect.as.answer.reply->err == ERR_OK) l->answers++;
}

/* Keys without order, as hashes and ids are. */
static struct slice key_text(char out[17], uint32_t i) {
    snprintf(out, 17, "%016lx", (unsigned long)hash_mix(i + 1));
    return slice_of(out, 16);
}

static void run(struct lab *l, enum store_op op, uint32_t count) {
    struct command cmd = {.kind = CMD_STORE, .token = 1, .tenant = SLICE("acme"), .principal = SLICE("bench")};
    char text[17];
    for (uint32_t i = 0; i < count; i++) {
        if (i % PER_PASS == 0) engine_begin(l->engine, &l->in);
        struct store_entry entry = {key_text(text, i), SLICE("sixteen bytes ok")};
        struct slice member = entry.key;
        cmd.as.store = (struct cmd_store){.op = op, .entries = &entry, .entry_count = 1, .number = 1};
        cmd.as.store.key = op == STORE_ADD ? SLICE("set") : entry.key;
        cmd.as.store.members = &member;
        cmd.as.store.member_count = 1;
        engine_command(l->engine, &cmd);
        if ((i + 1) % PER_PASS == 0 || i + 1 == count) finish(l);
    }
}

static void tell(const char *what, uint32_t count, double seconds, double floor_seconds) {
    printf("%-22s %9.0f /s  %6.2f us", what, count / seconds, seconds / count * 1e6);
    if (floor_seconds > 0) printf("   floor %6.2f us", floor_seconds / count * 1e6);
    printf("\n");
}

static double floor_names(uint32_t count) {
    struct map m;
    map_init(&m);
    char text[17];
    double start = cpu_now();
    for (uint32_t i = 0; i < count; i++) {
        struct slice key = key_text(text, i);
        uint64_t hash = hash64(key.ptr, key.len, 0);
        if (map_get(&m, hash) == 0) map_put(&m, hash, i + 1);
    }
    double seconds = cpu_now() - start;
    map_fini(&m);
    return seconds;
}

static void count_item(void *ctx, const struct item_view *item) {
    *(uint64_t *)ctx += item->key.len;
}

static void bench_reads(struct lab *l, uint32_t count) {
    struct store_place place = {SLICE("acme"), {0}};
    struct item_view view;
    char text[17];
    uint64_t found = 0, bytes = 0;
    double start = cpu_now();
    for (uint32_t i = 0; i < count; i++) {
        uint32_t any = (uint32_t)(hash_mix(i) % count);
        found += view_item(engine_state(l->engine), l->in.wall, place, key_text(text, any), &view);
    }
    tell("get", count, cpu_now() - start, 0);
    ENSURE(found == count);
    struct store_page page = {.most = 100};
    struct slice last;
    start = cpu_now();
    while (view_items(engine_state(l->engine), l->in.wall, place, &page, count_item, &bytes, &last)) page.after = last;
    tell("page, a key", count, cpu_now() - start, 0);
    ENSURE(bytes == (uint64_t)count * 16);
}

static void bench_speed(uint32_t count) {
    struct lab l;
    lab_init(&l, true);
    double names = floor_names(count);
    double start = cpu_now();
    run(&l, STORE_SET, count);
    tell("set, new", count, cpu_now() - start, names);
    start = cpu_now();
    run(&l, STORE_SET, count);
    tell("set, again", count, cpu_now() - start, names);
    bench_reads(&l, count);
    start = cpu_now();
    run(&l, STORE_ADD, count);
    tell("add a member", count, cpu_now() - start, names);
    ENSURE(l.answers == 3ull * count);
    struct engine *again = engine_new(0, &l.limits);
    struct why why;
    start = cpu_now();
    for (uint32_t i = 0; i < l.batches.count; i++) {
        struct batch b = *(struct batch *)vec_at(&l.batches, i);
        b.records.ptr = l.journal.at + (uintptr_t)b.records.ptr;
        ENSURE(engine_replay(again, &b, &why) == ERR_OK);
    }
    tell("replay, a record", 3 * count, cpu_now() - start, 0);
    engine_free(again);
    lab_fini(&l);
}

static void bench_memory(const char *what, enum store_op op, uint32_t count) {
    struct lab l;
    lab_init(&l, false);
    run(&l, op, 1);
    size_t before = heap_now();
    run(&l, op, count);
    printf("memory, %-14s %9.0f bytes of heap each (%u)\n", what, (double)(heap_now() - before) / count, count);
    lab_fini(&l);
}

int main(int argc, char **argv) {
    uint32_t count = argc > 1 && strcmp(argv[1], "--quick") == 0 ? 100000 : 1000000;
    bench_speed(count);
    bench_memory("key with text", STORE_SET, count);
    bench_memory("number", STORE_INCREASE, count);
    bench_memory("member", STORE_ADD, count);
    return 0;
}
