/* store_test.c: a long random life of the store against a table that is obviously right, with time going by, crashes,
 * namespaces that end, and everything read back in pages of every size. */
#include "engine_fixture.h"

#include <stdio.h>

#include "view_store.h"

#define SPACES 4u /* two tenants, and a flow of each */
#define KEYS 12u
#define MEMBERS 10u
#define STEPS 6000u

struct line {
    bool there;
    enum item_kind kind;
    char text[24];    /* also of a number */
    uint32_t members; /* bits */
    uint64_t version;
    int64_t expires_ms; /* 0 = never */
};

struct life {
    struct fixture rig;
    struct test_random random;
    struct line lines[SPACES][KEYS];
    flow_id flows[SPACES]; /* of the odd spaces */
    uint64_t lsn_before;   /* the last command */
};

static const char *const keys[KEYS] = {"a", "aa", "aaa", "ab", "b", "b/1", "b/2", "b/3", "n1", "n2", "s1", "s2"};
static const char *const tenants[] = {"acme", "other"};
static const char *const values[] = {"", "1", "-7", "9223372036854775807", "007", "text"};

static uint32_t below(struct life *l, uint32_t n) {
    return (uint32_t)test_random_below(&l->random, n);
}

static struct slice member(uint32_t i) {
    static const char names[MEMBERS + 1] = "qwertzuiop";
    return slice_of(names + i, 1);
}

static struct store_place place(const struct life *l, uint32_t space) {
    return (struct store_place){slice_str(tenants[space / 2]), l->flows[space]};
}

/* The version that the last command gave: of a record it made, and of none before it. */
static uint64_t new_version(const struct life *l) {
    assert_true(l->rig.reply.version > l->lsn_before && l->rig.reply.version <= engine_lsn(l->rig.engine));
    return l->rig.reply.version;
}

static enum err run(struct life *l, uint32_t space, struct cmd_store c) {
    l->lsn_before = engine_lsn(l->rig.engine);
    struct command cmd = {.kind = CMD_STORE, .tenant = slice_str(tenants[space / 2])};
    c.flow = l->flows[space];
    cmd.as.store = c;
    return fixture_command(&l->rig, &cmd);
}

/* The line as it is now. */
static struct line *at(struct life *l, uint32_t space, uint32_t key) {
    struct line *x = &l->lines[space][key];
    if (x->there && x->expires_ms && x->expires_ms <= l->rig.in.wall.ms) x->there = false;
    if (!x->there) *x = (struct line){0};
    return x;
}

static int64_t any_time(struct life *l) {
    return below(l, 2) ? 0 : l->rig.in.wall.ms + 1 + below(l, 3000);
}

/* ---- what may happen ---- */

static bool holds(const struct line *x, const struct cmd_store *c) {
    switch (c->condition) {
    case STORE_ALWAYS: return true;
    case STORE_IF_ABSENT: return !x->there;
    case STORE_IF_PRESENT: return x->there;
    case STORE_IF_VERSION: return x->version == c->version;
    case STORE_IF_VALUE: return x->there && x->kind != ITEM_SET && slice_eq(slice_str(x->text), c->value);
    case STORE_IF_COUNT: break;
    }
    fail_msg("no such condition");
    return false;
}

static void change(struct life *l, uint32_t space, bool deleting) {
    struct store_entry entries[4];
    uint32_t which[4], count = 1 + (below(l, 3) ? 0 : below(l, 4)), there = 0;
    for (uint32_t i = 0; i < count; i++) {
        which[i] = below(l, KEYS);
        entries[i] = (struct store_entry){slice_str(keys[which[i]]), slice_str(values[below(l, 6)])};
    }
    struct cmd_store c = {.op = deleting ? STORE_DELETE : STORE_SET, .entries = entries, .entry_count = count};
    c.condition = (enum store_if)(below(l, 2) ? 0 : below(l, STORE_IF_COUNT));
    c.value = slice_str(values[below(l, 6)]);
    c.version = below(l, 4) ? at(l, space, which[0])->version : below(l, 100);
    c.expires_ms = deleting ? 0 : any_time(l);
    c.keep_expiry = !deleting && below(l, 3) == 0;
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) ok &= holds(at(l, space, which[i]), &c);
    assert_int_equal(run(l, space, c), ok ? ERR_OK : ERR_CONFLICT);
    if (!ok) return;
    uint64_t version = deleting ? 0 : new_version(l);
    for (uint32_t i = 0; i < count; i++) {
        struct line *x = &l->lines[space][which[i]];
        there += x->there;
        int64_t expires_ms = c.keep_expiry && x->expires_ms ? x->expires_ms : c.expires_ms;
        *x = (struct line){0};
        if (deleting) continue;
        *x = (struct line){.there = true, .kind = ITEM_TEXT, .version = version, .expires_ms = expires_ms};
        snprintf(x->text, sizeof x->text, "%.*s", SLICE_FMT(entries[i].value));
    }
    if (deleting) assert_int_equal(l->rig.reply.number, there);
}

static void count(struct life *l, uint32_t space) {
    uint32_t key = below(l, KEYS);
    struct line *x = at(l, space, key);
    int64_t by = (int64_t)below(l, 11) - 5, now = 0, then;
    bool is_number = !x->there || (x->kind != ITEM_SET && strcmp(x->text, "") != 0 && strcmp(x->text, "007") != 0 &&
                                   strcmp(x->text, "text") != 0);
    if (is_number && x->there) (void)sscanf(x->text, "%ld", &now);
    enum err want = !is_number ? ERR_STATE : __builtin_add_overflow(now, by, &then) ? ERR_LIMIT : ERR_OK;
    assert_int_equal(run(l, space, (struct cmd_store){.op = STORE_INCREASE, .key = slice_str(keys[key]), .number = by}),
                     want);
    if (want != ERR_OK) return;
    assert_true(l->rig.reply.number == then);
    x->there = true;
    x->kind = ITEM_NUMBER;
    x->version = new_version(l);
    snprintf(x->text, sizeof x->text, "%ld", then);
}

static void members(struct life *l, uint32_t space, bool adding) {
    uint32_t key = below(l, 3) ? 10 + below(l, 2) : below(l, KEYS), bits = 0, n = 1 + below(l, 4);
    struct slice list[4];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = below(l, MEMBERS);
        list[i] = member(m);
        bits |= 1u << m;
    }
    struct line *x = at(l, space, key);
    bool fits = !x->there || x->kind == ITEM_SET;
    struct cmd_store c = {.op = adding ? STORE_ADD : STORE_REMOVE, .key = slice_str(keys[key]), .members = list};
    c.member_count = n;
    assert_int_equal(run(l, space, c), fits ? ERR_OK : ERR_STATE);
    if (!fits) return;
    uint32_t moved = adding ? bits & ~x->members : bits & x->members;
    assert_int_equal(l->rig.reply.number, __builtin_popcount(moved));
    x->members ^= moved;
    x->there = x->members != 0;
    x->kind = ITEM_SET;
    if (moved && x->there) x->version = new_version(l);
    if (!x->there) *x = (struct line){0};
    assert_int_equal(l->rig.reply.version, x->version);
}

static void expire(struct life *l, uint32_t space) {
    uint32_t key = below(l, KEYS);
    struct line *x = at(l, space, key);
    int64_t when = below(l, 5) ? any_time(l) : l->rig.in.wall.ms - below(l, 2);
    assert_int_equal(
        run(l, space, (struct cmd_store){.op = STORE_EXPIRE, .key = slice_str(keys[key]), .expires_ms = when}), ERR_OK);
    assert_int_equal(l->rig.reply.number, x->there);
    if (x->there) x->expires_ms = when;
    (void)at(l, space, key);
}

/* ---- looking at everything ---- */

struct pages {
    const struct life *life;
    uint32_t space;
    char last[8];
    uint32_t count;
    uint32_t members;
};

static void see_item(void *ctx, const struct item_view *v) {
    struct pages *p = ctx;
    assert_true(slice_cmp(slice_str(p->last), v->key) < 0); /* ascending, each once */
    snprintf(p->last, sizeof p->last, "%.*s", SLICE_FMT(v->key));
    p->count++;
    for (uint32_t k = 0; k < KEYS; k++) {
        const struct line *x = &p->life->lines[p->space][k];
        if (!slice_eq(slice_str(keys[k]), v->key)) continue;
        assert_true(x->there);
        assert_int_equal(v->kind, x->kind);
        assert_int_equal(v->version, x->version);
        assert_int_equal(v->expires.ms, x->expires_ms ? x->expires_ms : TIME_NEVER);
        if (x->kind == ITEM_TEXT) assert_true(slice_eq(v->value, slice_str(x->text)));
        char number[24];
        snprintf(number, sizeof number, "%ld", v->number);
        if (x->kind == ITEM_NUMBER) assert_string_equal(number, x->text);
        assert_int_equal(v->members, __builtin_popcount(x->members));
        return;
    }
    fail_msg("a key that nobody set");
}

static void see_member(void *ctx, struct slice text) {
    struct pages *p = ctx;
    for (uint32_t i = 0; i < MEMBERS; i++)
        if (slice_eq(member(i), text)) p->members |= 1u << i;
}

static void check_space(struct life *l, uint32_t space) {
    const struct state *s = engine_state(l->rig.engine);
    wall_time now = l->rig.in.wall;
    uint32_t there = 0;
    for (uint32_t k = 0; k < KEYS; k++) {
        struct pages p = {.life = l};
        const struct line *x = at(l, space, k);
        struct store_page page = {.most = 1 + below(l, 4)};
        struct slice last;
        there += x->there;
        while (view_members(s, now, place(l, space), slice_str(keys[k]), &page, see_member, &p, &last))
            page.after = last;
        assert_int_equal(p.members, x->members);
    }
    struct pages p = {.life = l, .space = space};
    struct store_page page = {.most = 1 + below(l, 5)};
    struct slice last;
    while (view_items(s, now, place(l, space), &page, see_item, &p, &last)) page.after = last;
    assert_int_equal(p.count, there);
}

/* The flow of a space ends; another takes its place. */
static void new_flow(struct life *l, uint32_t space) {
    struct fixture *r = &l->rig;
    struct options o;
    options_default(&o);
    if (l->flows[space].v) {
        assert_int_equal(fixture_cancel(r, (struct job_ref){l->flows[space], UINT32_MAX}), ERR_OK);
        struct command cmd = {.kind = CMD_FORGET};
        cmd.as.flow = l->flows[space];
        assert_int_equal(fixture_command(r, &cmd), ERR_OK);
        memset(l->lines[space], 0, sizeof l->lines[space]);
    }
    struct job_spec job = {.name = SLICE("a")};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(tenants[space / 2])};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, &job, 1, false};
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    l->flows[space] = r->reply.flow;
}

static void step(struct life *l) {
    uint32_t space = below(l, SPACES);
    switch (below(l, 12)) {
    case 0:
    case 1:
    case 2: change(l, space, false); break;
    case 3: change(l, space, true); break;
    case 4:
    case 5: count(l, space); break;
    case 6:
    case 7: members(l, space, true); break;
    case 8: members(l, space, false); break;
    case 9: expire(l, space); break;
    case 10: l->rig.in.wall.ms += below(l, 400); break; /* without a tick: what is over is only hidden */
    default: fixture_tick(&l->rig, below(l, 300)); break;
    }
    check_space(l, space);
    if (below(l, 200) == 0) new_flow(l, space | 1);
    if (below(l, 150) == 0) fixture_check_digests(&l->rig);
    if (below(l, 300) == 0) fixture_crash(&l->rig);
}

static void lives(uint64_t seed) {
    static struct life life;
    memset(&life, 0, sizeof life);
    life.random.state = seed;
    fixture_init(&life.rig);
    for (uint32_t i = 1; i < SPACES; i += 2) new_flow(&life, i);
    for (uint32_t i = 0; i < STEPS; i++) step(&life);
    fixture_check_digests(&life.rig);
    fixture_tick(&life.rig, 10000);
    for (uint32_t i = 0; i < SPACES; i++) check_space(&life, i);
    fixture_fini(&life.rig);
}

static void the_store_is_the_table(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) lives(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_store_is_the_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
