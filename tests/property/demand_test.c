/* demand_test.c: what waits for room, under random loads, against a count job by job: `view_why` says of each job why
 * it does not run, and a small table in here which kind of worker would take it. */
#include "engine_fixture.h"

#include <stdio.h>

#include "view_demand.h"

#define RUNS 40u
#define STEPS 120u
#define FLOWS_MAX 400u
#define JOBS_MAX 6u
#define WORKERS 5u
#define PREFER_MS 5000

enum set { SET_PLAIN, SET_CUDA, SET_CPU, SET_KEYED, SET_PINNED, SET_TOPIC, SET_OTHER_TENANT, SET_COUNT };
enum kind { KIND_DEFAULT, KIND_CUDA, KIND_BARE, LOAD_KINDS };

/* How many jobs of a set one worker of a kind holds. */
static const uint32_t at_once[LOAD_KINDS][SET_COUNT] = {
    [KIND_DEFAULT] = {[SET_PLAIN] = 4, [SET_CPU] = 1, [SET_KEYED] = 4, [SET_PINNED] = 4, [SET_TOPIC] = 4},
    [KIND_CUDA] = {[SET_CUDA] = 2, [SET_TOPIC] = 2},
    [KIND_BARE] = {[SET_TOPIC] = 3},
};

struct load {
    struct fixture rig;
    struct test_random random;
    uint32_t sets[FLOWS_MAX + 1][JOBS_MAX];
    uint32_t jobs[FLOWS_MAX + 1];
    bool paused[FLOWS_MAX + 1];
    uint64_t flows;
    uint64_t incarnation[WORKERS]; /* 0 = away */
    uint64_t incarnation_last;
};

static uint32_t draw(struct load *l, uint32_t below) {
    return (uint32_t)test_random_below(&l->random, below);
}

static struct options options_of_set(enum set set) {
    static struct name_item cuda[1], key[1];
    struct options o = fixture_options();
    cuda[0].name = SLICE("cuda");
    key[0].name = SLICE("k");
    switch (set) {
    case SET_CUDA:
        o.demand.pool = SLICE("gpu");
        o.demand.capabilities = (struct tlv_list){cuda, 1};
        break;
    case SET_CPU: o.demand.cpu_milli = 2000; break;
    case SET_KEYED: o.demand.keys = (struct tlv_list){key, 1}; break;
    case SET_PINNED:
        o.preferred_worker = SLICE("w0");
        o.prefer_ms = PREFER_MS;
        break;
    case SET_TOPIC:
        o.demand.pool = slice_of(NULL, 0);
        o.demand.topic = SLICE("t");
        break;
    case SET_PLAIN:
    case SET_OTHER_TENANT:
    case SET_COUNT: break;
    }
    return o;
}

static struct worker_info info_of_kind(enum kind kind) {
    static struct name_item cuda[1];
    cuda[0].name = SLICE("cuda");
    struct worker_info w = {.pool = SLICE("default"), .slots = 4, .cpu_milli = 3000, .tenant = SLICE("acme")};
    if (kind == KIND_CUDA) {
        w.pool = SLICE("gpu");
        w.slots = 2;
        w.capabilities = (struct tlv_list){cuda, 1};
    }
    if (kind == KIND_BARE) {
        w.pool = SLICE("gpu");
        w.slots = 3;
    }
    return w;
}

/* ---- steps ---- */

static void submit(struct load *l) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    uint32_t count = 1 + draw(l, JOBS_MAX);
    enum set set = (enum set)draw(l, SET_COUNT);
    struct options o = options_of_set(set);
    if (l->flows == FLOWS_MAX) return;
    l->rig.tenant = set == SET_OTHER_TENANT ? "bolt" : "acme";
    assert_ok(fixture_submit(&l->rig, &o, names, count));
    l->rig.tenant = "acme";
    l->flows = l->rig.reply.flow.v;
    l->jobs[l->flows] = count;
    for (uint32_t i = 0; i < count; i++) l->sets[l->flows][i] = set;
}

static void come_or_go(struct load *l) {
    uint32_t i = draw(l, WORKERS);
    char name[8];
    snprintf(name, sizeof name, "w%u", i);
    if (l->incarnation[i] != 0) {
        assert_ok(fixture_detach(&l->rig, name, l->incarnation[i]));
        l->incarnation[i] = 0;
        return;
    }
    struct worker_info info = info_of_kind(i == 0 ? KIND_DEFAULT : (enum kind)draw(l, LOAD_KINDS));
    info.slots = 1 + draw(l, 2);
    l->incarnation[i] = ++l->incarnation_last;
    assert_ok(fixture_attach_as(&l->rig, name, l->incarnation[i], &info));
    assert_ok(fixture_heartbeat(&l->rig, name, l->incarnation[i], info.slots, 0, 0));
}

static void end_some(struct load *l) {
    for (uint64_t f = 1; f <= l->flows; f++)
        for (uint32_t i = 0; i < l->jobs[f]; i++) {
            struct job_view v = fixture_job(&l->rig, f, i);
            if (v.state != JOB_DISPATCHED || draw(l, 3) != 0) continue;
            const char *worker = fixture_worker_of(&l->rig, f, i);
            uint64_t incarnation = worker[0] == 'w' ? l->incarnation[worker[1] - '0'] : 0;
            if (incarnation != 0) (void)fixture_done(&l->rig, worker, incarnation, v.ref, v.attempt, OUTCOME_OK);
        }
}

static void pause_or_go_on(struct load *l) {
    uint64_t f = l->flows ? 1 + draw(l, (uint32_t)l->flows) : 0;
    if (f == 0) return;
    if (fixture_pause(&l->rig, PAUSE_FLOW, f, NULL, !l->paused[f]) == ERR_OK) l->paused[f] = !l->paused[f];
}

static void set_key(struct load *l) {
    struct command cmd = {.kind = CMD_LIMIT};
    cmd.as.limit = (struct cmd_limit){.tenant = SLICE("acme"), .kind = LIMIT_KEY, .name = SLICE("k")};
    cmd.as.limit.width = 1 + draw(l, 6);
    assert_ok(fixture_command(&l->rig, &cmd));
}

static void step(struct load *l) {
    switch (draw(l, 9)) {
    case 0:
    case 1:
    case 2: submit(l); break;
    case 3:
    case 4: end_some(l); break;
    case 5: pause_or_go_on(l); break;
    case 6: set_key(l); break;
    case 7: fixture_tick(&l->rig, 100 + draw(l, 4000)); break;
    case 8: come_or_go(l); break;
    }
}

/* ---- both counts ---- */

struct count {
    uint32_t ready;
    uint64_t need_milli;
    int64_t since_ms;
};

static void count_view(void *ctx, const struct demand_view *v) {
    struct count *c = ctx;
    assert_true(v->ready > 0 && !v->more);
    c->ready += v->ready;
    if (v->at_once) c->need_milli += v->ready * 1000 / v->at_once;
    if (c->since_ms == 0 || v->since.ms < c->since_ms) c->since_ms = v->since.ms;
}

static bool lacks_room(struct load *l, uint64_t flow, uint32_t i) {
    struct job_view v = fixture_job(&l->rig, flow, i);
    if (v.state != JOB_READY) return false;
    if (l->sets[flow][i] == SET_PINNED && l->rig.in.wall.ms < v.since.ms + PREFER_MS) return false;
    enum block b = fixture_why(&l->rig, flow, i).block;
    return b == BLOCK_NO_WORKERS || b == BLOCK_TENANT_WORKERS || b == BLOCK_CAPABILITY || b == BLOCK_CAPACITY;
}

static uint32_t key_room(struct load *l) {
    struct limit_view v;
    if (!view_limit(engine_state(l->rig.engine), SLICE("acme"), LIMIT_KEY, SLICE("k"), &v)) return 1;
    return v.width > v.taken ? v.width - v.taken : 0;
}

/* `kind` LOAD_KINDS: whatever waits, of whichever tenant. */
static struct count count_slowly(struct load *l, enum kind kind) {
    uint32_t of_set[SET_COUNT] = {0};
    struct count c = {0};
    for (uint64_t f = 1; f <= l->flows; f++)
        for (uint32_t i = 0; i < l->jobs[f]; i++) {
            enum set set = (enum set)l->sets[f][i];
            if (kind != LOAD_KINDS && at_once[kind][set] == 0) continue;
            if (set == SET_KEYED && of_set[set] == key_room(l)) continue;
            if (!lacks_room(l, f, i)) continue;
            int64_t since = fixture_job(&l->rig, f, i).since.ms;
            of_set[set]++;
            c.ready++;
            if (c.since_ms == 0 || since < c.since_ms) c.since_ms = since;
        }
    for (uint32_t s = 0; s < SET_COUNT && kind != LOAD_KINDS; s++)
        if (at_once[kind][s]) c.need_milli += of_set[s] * 1000 / at_once[kind][s];
    return c;
}

static void compare(struct load *l, enum kind kind) {
    struct count got = {0}, want = count_slowly(l, kind);
    struct worker_info info = info_of_kind(kind == LOAD_KINDS ? KIND_DEFAULT : kind);
    struct demand_query query = {.kind = kind == LOAD_KINDS ? NULL : &info};
    view_demand(engine_state(l->rig.engine), engine_live(l->rig.engine), &l->rig.limits, &query, count_view, &got);
    assert_int_equal(got.ready, want.ready);
    /* a set is in several classes when some of its preferences are over: each rounds for itself */
    assert_true(want.need_milli - got.need_milli <= SET_COUNT);
    if (want.ready > 0 && kind != KIND_DEFAULT && kind != LOAD_KINDS) assert_int_equal(got.since_ms, want.since_ms);
}

static void demand_is_what_a_count_of_jobs_gives(void **state) {
    (void)state;
    uint64_t seen = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        static struct load l;
        l = (struct load){.random = {seed}};
        fixture_init(&l.rig);
        assert_ok(fixture_topic(&l.rig, "t", "gpu", "default"));
        for (uint32_t i = 0; i < STEPS; i++) {
            step(&l);
            for (uint32_t kind = 0; kind <= LOAD_KINDS; kind++) compare(&l, (enum kind)kind);
            seen += count_slowly(&l, LOAD_KINDS).ready;
            if (i % 40 == 39) {
                fixture_crash(&l.rig); /* nothing that was counted along could survive it */
                for (uint32_t w = 0; w < WORKERS; w++) l.incarnation[w] = 0;
                compare(&l, LOAD_KINDS);
            }
        }
        fixture_fini(&l.rig);
    }
    assert_true(seen > 10000); /* otherwise this compared nothing */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(demand_is_what_a_count_of_jobs_gives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
