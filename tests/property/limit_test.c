/* limit_test.c: random loads, crashes and snapshot reloads against a naive count. The naive side reads the records, one
 * by one, and knows nothing but which attempts are open and what was set: at every record no limit is exceeded, and
 * after every pass the engine's counters are what a count from the beginning gives. */
#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define RUNS 60
#define STEPS 150
#define TENANTS 2u
#define KEYS 4u
#define RATES 2u
#define FLOWS_MAX 256u
#define JOBS_MAX 12u
#define QUEUED_MAX 25u
#define BYTES_MAX 200u

static const char *const tenant_names[TENANTS] = {"acme", "bolt"};
static const char *const key_names[KEYS] = {"k0", "k1", "k2", "k3"};
static const char *const rate_names[RATES] = {"r0", "r1"};

struct naive_job {
    uint32_t keys, rates; /* bits */
    uint64_t bytes;
    bool open; /* attempt */
};

struct naive {
    struct {
        uint32_t tenant, count;
        struct naive_job jobs[JOBS_MAX];
    } flows[FLOWS_MAX + 1]; /* by id */
    struct {
        bool set;
        uint32_t width;
    } keys[TENANTS][KEYS];
    struct {
        bool set;
        uint64_t rate, burst, level; /* millionths */
        int64_t at_ms;
    } rates[TENANTS][RATES];
    struct {
        uint32_t running;
        uint64_t queued, bytes;
    } tenants[TENANTS];
    uint32_t batches; /* read so far */
};

struct load {
    struct fixture rig;
    struct naive naive;
    uint64_t random;
    uint64_t flows;
    uint64_t incarnation;
    bool room_is_fixed; /* admission limits are there from the beginning and stay: they are exact too */
};

static uint32_t draw(struct load *l, uint32_t below) {
    l->random = l->random * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)((l->random >> 33) % below);
}

/* ---- the naive side ---- */

static uint32_t index_of(const char *const *names, uint32_t count, struct slice name) {
    for (uint32_t i = 0; i < count; i++)
        if (slice_eq(slice_str(names[i]), name)) return i;
    fail_msg("an unknown name");
    return 0;
}

static uint32_t bits_of(const char *const *names, uint32_t count, const struct tlv_list *list) {
    const struct name_item *items = list->at;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < list->count; i++) bits |= 1u << index_of(names, count, items[i].name);
    return bits;
}

static uint32_t open_with(const struct naive *n, uint32_t tenant, uint32_t key_bit) {
    uint32_t open = 0;
    for (uint32_t f = 1; f <= FLOWS_MAX; f++)
        for (uint32_t i = 0; i < n->flows[f].count && n->flows[f].tenant == tenant; i++)
            open += n->flows[f].jobs[i].open && (key_bit == 0 || (n->flows[f].jobs[i].keys & key_bit));
    return open;
}

static void fill(struct naive *n, uint32_t t, uint32_t i, int64_t now_ms) { /* millisecond by millisecond */
    uint64_t full = n->rates[t][i].burst * 1000000;
    for (; n->rates[t][i].at_ms < now_ms; n->rates[t][i].at_ms++) {
        n->rates[t][i].level += n->rates[t][i].rate;
        if (n->rates[t][i].level > full) n->rates[t][i].level = full;
    }
}

static void read_assigned(struct naive *n, const struct rec_assigned *r, int64_t now_ms) {
    uint32_t t = n->flows[r->flow].tenant;
    struct naive_job *j = &n->flows[r->flow].jobs[r->ordinal];
    assert_false(j->open);
    j->open = true;
    for (uint32_t k = 0; k < KEYS; k++) {
        if (!(j->keys & 1u << k)) continue;
        uint32_t width = n->keys[t][k].set ? n->keys[t][k].width : 1;
        if (open_with(n, t, 1u << k) > width) fail_msg("key %s is taken more than %u times", key_names[k], width);
    }
    for (uint32_t i = 0; i < RATES; i++) {
        if (!(j->rates & 1u << i) || !n->rates[t][i].set) continue;
        fill(n, t, i, now_ms);
        if (n->rates[t][i].level < 1000000) fail_msg("rate %s had no token", rate_names[i]);
        n->rates[t][i].level -= 1000000;
    }
    uint32_t most = n->tenants[t].running;
    if (most && open_with(n, t, 0) > most) fail_msg("tenant %s runs more than %u", tenant_names[t], most);
}

static void read_limit(struct naive *n, const struct rec_limit *r, int64_t now_ms) {
    uint32_t t = index_of(tenant_names, TENANTS, r->head.tenant);
    if (r->kind == LIMIT_KEY) {
        uint32_t k = index_of(key_names, KEYS, r->name);
        n->keys[t][k].set = !r->clear;
        n->keys[t][k].width = r->width;
    } else if (r->kind == LIMIT_RATE) {
        uint32_t i = index_of(rate_names, RATES, r->name);
        bool was = n->rates[t][i].set;
        if (was) fill(n, t, i, now_ms);
        uint64_t full = r->burst * 1000000, level = was ? n->rates[t][i].level : full;
        n->rates[t][i].set = !r->clear;
        n->rates[t][i].rate = r->rate_milli;
        n->rates[t][i].burst = r->burst;
        n->rates[t][i].level = level < full ? level : full;
        n->rates[t][i].at_ms = now_ms;
    } else {
        n->tenants[t].running = r->running;
        n->tenants[t].queued = r->queued;
        n->tenants[t].bytes = r->bytes;
    }
}

static void read_submitted(struct naive *n, const struct rec_submitted *r) {
    assert_true(r->flow <= FLOWS_MAX && r->jobs.count <= JOBS_MAX);
    const struct rec_job *jobs = r->jobs.at;
    const struct options *sets = r->profiles.at;
    n->flows[r->flow].tenant = index_of(tenant_names, TENANTS, r->head.tenant);
    n->flows[r->flow].count = r->jobs.count;
    for (uint32_t i = 0; i < r->jobs.count; i++) {
        const struct demand *d = &sets[jobs[i].profile].demand;
        n->flows[r->flow].jobs[i] = (struct naive_job){.keys = bits_of(key_names, KEYS, &d->keys),
                                                       .rates = bits_of(rate_names, RATES, &d->rates),
                                                       .bytes = jobs[i].raw.len};
    }
}

static void read_batches(struct load *l) {
    struct naive *n = &l->naive;
    const struct fixture *r = &l->rig;
    struct arena arena;
    arena_init(&arena, 4096, 1u << 30);
    for (; n->batches < r->batches.count; n->batches++) {
        struct batch b = *(const struct batch *)vec_at(&r->batches, n->batches);
        struct cursor c = cursor_of(slice_of(r->journal.at + (uintptr_t)b.records.ptr, b.records.len));
        while (cursor_left(&c)) {
            struct record rec;
            assert_int_equal(record_decode(&c, &arena, &rec, NULL), ERR_OK);
            if (rec.kind == REC_SUBMITTED) read_submitted(n, &rec.body.as_REC_SUBMITTED);
            if (rec.kind == REC_LIMIT) read_limit(n, &rec.body.as_REC_LIMIT, b.time.ms);
            if (rec.kind == REC_ASSIGNED) read_assigned(n, &rec.body.as_REC_ASSIGNED, b.time.ms);
            if (rec.kind == REC_ENDED) {
                const struct rec_ended *end = &rec.body.as_REC_ENDED;
                assert_true(n->flows[end->flow].jobs[end->ordinal].open);
                n->flows[end->flow].jobs[end->ordinal].open = false;
            }
        }
    }
    arena_fini(&arena);
}

/* ---- counters against counts ---- */

struct sums {
    struct load *load;
    uint64_t queued[TENANTS], bytes[TENANTS];
};

static void add_job(void *ctx, const struct job_view *job) {
    struct sums *s = ctx;
    uint32_t t = s->load->naive.flows[job->ref.flow.v].tenant;
    if (job_state_is_terminal(job->state)) return;
    s->queued[t]++;
    s->bytes[t] += s->load->naive.flows[job->ref.flow.v].jobs[job->ref.ordinal].bytes;
}

static void add_flow(void *ctx, flow_id id) {
    struct sums *s = ctx;
    view_each_job(engine_state(s->load->rig.engine), id, add_job, ctx);
}

static void compare_rates(const struct load *l, uint32_t t, int64_t now_ms) {
    const struct state *s = engine_state(l->rig.engine);
    for (uint32_t i = 0; i < RATES; i++) {
        struct naive copy = l->naive;
        struct limit_view view;
        bool known = view_limit(s, slice_str(tenant_names[t]), LIMIT_RATE, slice_str(rate_names[i]), &view);
        assert_int_equal(known && view.is_set, copy.rates[t][i].set);
        if (!copy.rates[t][i].set) continue;
        fill(&copy, t, i, now_ms);
        assert_int_equal(view.level, copy.rates[t][i].level);
    }
}

static void compare(struct load *l) {
    struct naive *n = &l->naive;
    read_batches(l);
    const struct state *s = engine_state(l->rig.engine);
    const struct batch *last = vec_at(&l->rig.batches, l->rig.batches.count - 1);
    struct sums sums = {.load = l};
    view_each_flow(s, add_flow, &sums);
    for (uint32_t t = 0; t < TENANTS; t++) {
        struct limit_view view;
        for (uint32_t k = 0; k < KEYS; k++) {
            uint32_t open = open_with(n, t, 1u << k);
            if (view_limit(s, slice_str(tenant_names[t]), LIMIT_KEY, slice_str(key_names[k]), &view)) {
                assert_int_equal(view.taken, open);
                assert_int_equal(view.width, n->keys[t][k].set ? n->keys[t][k].width : 1);
            } else {
                assert_int_equal(open, 0);
            }
        }
        compare_rates(l, t, last->time.ms);
        if (!view_limit(s, slice_str(tenant_names[t]), LIMIT_TENANT, SLICE(""), &view)) continue;
        assert_int_equal(view.running, open_with(n, t, 0));
        assert_int_equal(view.queued, sums.queued[t]);
        assert_int_equal(view.bytes, sums.bytes[t]);
        if (l->room_is_fixed) assert_true(view.queued <= QUEUED_MAX && view.bytes <= BYTES_MAX);
    }
}

/* ---- the load ---- */

static void do_submit(struct load *l) {
    static const char *const names[JOBS_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    if (l->flows >= FLOWS_MAX - 1) return;
    struct options o[2];
    struct name_item keys[2][2], rates[2][1];
    for (uint32_t i = 0; i < 2; i++) {
        options_default(&o[i]);
        o[i].retries = draw(l, 2);
        o[i].backoff_base_ms = 10;
        o[i].priority = draw(l, 3);
        uint32_t first = draw(l, KEYS);
        keys[i][0].name = slice_str(key_names[first]);
        keys[i][1].name = slice_str(key_names[(first + 1) % KEYS]);
        rates[i][0].name = slice_str(rate_names[draw(l, RATES)]);
        o[i].demand.keys = (struct tlv_list){keys[i], draw(l, 3)};
        o[i].demand.rates = (struct tlv_list){rates[i], draw(l, 2)};
    }
    struct job_spec specs[JOBS_MAX] = {0};
    uint32_t count = 1 + draw(l, JOBS_MAX);
    for (uint32_t i = 0; i < count; i++)
        specs[i] = (struct job_spec){.name = slice_str(names[i]), .profile = draw(l, 2), .body = SLICE("body")};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(tenant_names[draw(l, TENANTS)])};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 2, specs, count, false};
    if (fixture_command(&l->rig, &cmd) == ERR_OK) l->flows = l->rig.reply.flow.v;
}

static void do_limit(struct load *l) {
    struct command cmd = {.kind = CMD_LIMIT};
    struct cmd_limit *c = &cmd.as.limit;
    c->tenant = slice_str(tenant_names[draw(l, TENANTS)]);
    c->kind = (enum limit_kind)draw(l, LIMIT_KIND_COUNT);
    c->clear = draw(l, 4) == 0;
    c->width = draw(l, 4);
    c->rate_milli = 1 + draw(l, 3) * 1777;
    c->burst = 1 + draw(l, 3);
    c->running = draw(l, 4);
    c->queued = draw(l, 2) * 40;
    c->bytes = draw(l, 2) * 1000;
    if (c->kind == LIMIT_KEY) c->name = slice_str(key_names[draw(l, KEYS)]);
    if (c->kind == LIMIT_RATE) c->name = slice_str(rate_names[draw(l, RATES)]);
    if (c->kind == LIMIT_TENANT && l->room_is_fixed) {
        c->clear = false;
        c->queued = QUEUED_MAX;
        c->bytes = BYTES_MAX;
    }
    assert_int_equal(fixture_command(&l->rig, &cmd), ERR_OK);
}

static void do_end(struct load *l) {
    for (uint32_t tries = 0; tries < 20 && l->flows; tries++) {
        uint64_t f = 1 + draw(l, (uint32_t)l->flows);
        uint32_t count = l->naive.flows[f].count;
        struct job_view j;
        struct job_ref ref = {{f}, count ? draw(l, count) : 0};
        if (!view_job(engine_state(l->rig.engine), ref, &j) || !job_state_is_active(j.state)) continue;
        enum outcome outcome = draw(l, 4) ? OUTCOME_OK : draw(l, 2) ? OUTCOME_EXIT : OUTCOME_STOPPED;
        assert_int_equal(fixture_done(&l->rig, "w1", l->incarnation, ref, j.attempt, outcome), ERR_OK);
    }
}

static void do_meddle(struct load *l) {
    if (l->flows == 0) return;
    uint64_t f = 1 + draw(l, (uint32_t)l->flows);
    uint32_t ordinal = l->naive.flows[f].count ? draw(l, l->naive.flows[f].count) : 0;
    struct command cmd = {.kind = CMD_RERUN, .as.flow = {f}};
    switch (draw(l, 4)) {
    case 0: (void)fixture_cancel(&l->rig, (struct job_ref){{f}, draw(l, 3) ? ordinal : UINT32_MAX}); return;
    case 1: break;
    case 2: cmd.kind = CMD_FORGET; break;
    default:
        cmd.kind = CMD_RETRY;
        cmd.as.job = (struct job_ref){{f}, ordinal};
        break;
    }
    (void)fixture_command(&l->rig, &cmd);
}

static void attach(struct load *l) {
    (void)fixture_attach(&l->rig, "w1", l->incarnation, 6); /* holds nothing: what is open is sent again, or lost */
}

static void do_restart(struct load *l) {
    struct fixture *r = &l->rig;
    if (draw(l, 2)) {
        fixture_crash(r);
    } else { /* from a snapshot */
        struct engine *loaded = fixture_reload(r);
        engine_free(r->engine);
        r->engine = loaded;
        r->effects.count = 0;
        engine_resume(r->engine, ++r->epoch, SLICE("test"), &r->in);
        engine_finish(r->engine);
        fixture_flush(r);
    }
    compare(l);
    if (draw(l, 2)) l->incarnation++;
    attach(l);
}

static void step(struct load *l) {
    switch (draw(l, 12)) {
    case 0:
    case 1: do_submit(l); break;
    case 2:
    case 3: do_limit(l); break;
    case 4:
    case 5:
    case 6: do_end(l); break;
    case 7: do_meddle(l); break;
    case 8:
        if (draw(l, 3) == 0) do_restart(l);
        break;
    case 9:
        if (draw(l, 4) == 0) {
            fixture_tick(&l->rig, l->rig.limits.lease_ms); /* everything is lost */
            compare(l);
            l->incarnation++;
        }
        attach(l);
        break;
    default: fixture_tick(&l->rig, 1 + draw(l, 700)); break;
    }
    compare(l);
}

static void counters_are_counts(void **state) {
    (void)state;
    static struct load l;
    for (uint64_t run = 1; run <= RUNS; run++) {
        memset(&l, 0, sizeof l);
        fixture_init(&l.rig);
        l.rig.limits.lease_ms = 30000;
        l.random = run * 0x9e3779b97f4a7c15ULL;
        l.incarnation = 1;
        l.room_is_fixed = run % 2;
        for (uint32_t t = 0; t < TENANTS && l.room_is_fixed; t++) {
            struct command cmd = {.kind = CMD_LIMIT};
            cmd.as.limit = (struct cmd_limit){
                .tenant = slice_str(tenant_names[t]), .kind = LIMIT_TENANT, .queued = QUEUED_MAX, .bytes = BYTES_MAX};
            assert_int_equal(fixture_command(&l.rig, &cmd), ERR_OK);
        }
        attach(&l);
        for (uint32_t i = 0; i < STEPS; i++) step(&l);
        fixture_check_digests(&l.rig);
        fixture_fini(&l.rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counters_are_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
