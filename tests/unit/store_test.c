/* store_test.c: the shared store through the engine: every operation, namespaces, expiry, conditions, watches, limits,
 * and the way back from journal and snapshot. */
#include "engine_fixture.h"

#include <stdio.h>

#include "view_store.h"

static struct fixture *r;
static flow_id flow; /* namespace of what follows; 0 = the tenant's */

static int setup(void **state) {
    static struct fixture rig;
    fixture_init(&rig);
    r = &rig;
    flow.v = 0;
    *state = &rig;
    return 0;
}

static int teardown(void **state) {
    fixture_fini(*state);
    return 0;
}

/* ---- saying it shortly ---- */

static enum err run(struct cmd_store c) {
    struct command cmd = {.kind = CMD_STORE, .tenant = SLICE("acme")};
    c.flow = flow;
    cmd.as.store = c;
    return fixture_command(r, &cmd);
}

static enum err set_if(const char *key, const char *value, enum store_if condition, uint64_t version) {
    struct store_entry e = {slice_str(key), slice_str(value)};
    return run((struct cmd_store){
        .op = STORE_SET, .entries = &e, .entry_count = 1, .condition = condition, .version = version});
}

static void set(const char *key, const char *value) {
    assert_int_equal(set_if(key, value, STORE_ALWAYS, 0), ERR_OK);
}

static void set_until(const char *key, const char *value, int64_t ms) {
    struct store_entry e = {slice_str(key), slice_str(value)};
    struct cmd_store c = {.op = STORE_SET, .entries = &e, .entry_count = 1, .expires_ms = r->in.wall.ms + ms};
    assert_int_equal(run(c), ERR_OK);
}

static int64_t del(const char *key) {
    struct store_entry e = {slice_str(key), {0}};
    assert_int_equal(run((struct cmd_store){.op = STORE_DELETE, .entries = &e, .entry_count = 1}), ERR_OK);
    return r->reply.number;
}

static enum err increase(const char *key, int64_t by) {
    return run((struct cmd_store){.op = STORE_INCREASE, .key = slice_str(key), .number = by});
}

static enum err members(enum store_op op, const char *key, const char *a, const char *b) {
    struct slice list[] = {slice_str(a), slice_str(b ? b : "")};
    return run((struct cmd_store){.op = op, .key = slice_str(key), .members = list, .member_count = b ? 2 : 1});
}

static enum err expire(const char *key, int64_t at_ms) {
    return run((struct cmd_store){.op = STORE_EXPIRE, .key = slice_str(key), .expires_ms = at_ms});
}

static bool look(const char *key, struct item_view *ret) {
    struct store_place place = {SLICE("acme"), flow};
    return view_item(engine_state(r->engine), r->in.wall, place, slice_str(key), ret);
}

static void holds(const char *key, const char *value) {
    struct item_view v;
    assert_true(look(key, &v));
    assert_int_equal(v.kind, ITEM_TEXT);
    assert_true(slice_eq(v.value, slice_str(value)));
}

static void holds_number(const char *key, int64_t number) {
    struct item_view v;
    assert_true(look(key, &v));
    assert_int_equal(v.kind, ITEM_NUMBER);
    assert_true(v.number == number);
}

static void is_absent(const char *key) {
    struct item_view v;
    assert_false(look(key, &v));
}

static uint64_t version_of(const char *key) {
    struct item_view v;
    return look(key, &v) ? v.version : 0;
}

/* ---- texts ---- */

static void a_value_is_set_read_and_deleted(void **state) {
    (void)state;
    set("greeting", "hello");
    uint64_t first = r->reply.version;
    assert_int_equal(first, engine_lsn(r->engine));
    holds("greeting", "hello");
    assert_int_equal(version_of("greeting"), first);
    set("greeting", "");
    holds("greeting", "");
    assert_true(r->reply.version > first);
    fixture_check_digests(r);
    assert_int_equal(del("greeting"), 1);
    is_absent("greeting");
    assert_int_equal(del("greeting"), 0);
    fixture_check_digests(r);
}

static void many_are_set_in_one_record(void **state) {
    (void)state;
    struct store_entry e[] = {{SLICE("b"), SLICE("1")}, {SLICE("a"), SLICE("2")}, {SLICE("b"), SLICE("3")}};
    uint64_t lsn = engine_lsn(r->engine);
    assert_int_equal(run((struct cmd_store){.op = STORE_SET, .entries = e, .entry_count = 3}), ERR_OK);
    assert_int_equal(engine_lsn(r->engine), lsn + 1);
    assert_int_equal(r->reply.number, 2);
    holds("a", "2");
    holds("b", "3"); /* the last word counts */
    assert_int_equal(version_of("a"), version_of("b"));
    /* all or none */
    struct store_entry more[] = {{SLICE("a"), SLICE("9")}, {SLICE("c"), SLICE("9")}};
    struct cmd_store c = {.op = STORE_SET, .entries = more, .entry_count = 2, .condition = STORE_IF_ABSENT};
    assert_int_equal(run(c), ERR_CONFLICT);
    holds("a", "2");
    is_absent("c");
    /* deleting names each once */
    struct store_entry gone[] = {{SLICE("b"), {0}}, {SLICE("x"), {0}}, {SLICE("b"), {0}}, {SLICE("a"), {0}}};
    assert_int_equal(run((struct cmd_store){.op = STORE_DELETE, .entries = gone, .entry_count = 4}), ERR_OK);
    assert_int_equal(r->reply.number, 2);
    fixture_check_digests(r);
}

static void conditions_are_kept(void **state) {
    (void)state;
    assert_int_equal(set_if("k", "1", STORE_IF_PRESENT, 0), ERR_CONFLICT);
    assert_int_equal(set_if("k", "1", STORE_IF_ABSENT, 0), ERR_OK);
    uint64_t first = r->reply.version;
    assert_int_equal(set_if("k", "2", STORE_IF_ABSENT, 0), ERR_CONFLICT);
    assert_int_equal(r->reply.version, first); /* a conflict tells what is there */
    assert_int_equal(set_if("k", "2", STORE_IF_VERSION, first), ERR_OK);
    assert_int_equal(set_if("k", "3", STORE_IF_VERSION, first), ERR_CONFLICT);
    assert_int_equal(set_if("k", "3", STORE_IF_VERSION, 0), ERR_CONFLICT);
    assert_int_equal(set_if("new", "3", STORE_IF_VERSION, 0), ERR_OK);
    holds("k", "2");
    struct store_entry e = {SLICE("k"), SLICE("5")};
    struct cmd_store c = {
        .op = STORE_SET, .entries = &e, .entry_count = 1, .condition = STORE_IF_VALUE, .value = SLICE("4")};
    assert_int_equal(run(c), ERR_CONFLICT);
    c.value = SLICE("2");
    assert_int_equal(run(c), ERR_OK);
    /* a number is compared as its text, and a lock is given back by who holds it */
    assert_int_equal(increase("k", 1), ERR_OK);
    c.op = STORE_DELETE;
    c.value = SLICE("5");
    assert_int_equal(run(c), ERR_CONFLICT);
    c.value = SLICE("6");
    assert_int_equal(run(c), ERR_OK);
    is_absent("k");
    fixture_check_digests(r);
}

static void a_version_never_comes_back(void **state) {
    (void)state;
    set("k", "1");
    uint64_t first = r->reply.version;
    del("k");
    set("k", "1");
    assert_true(r->reply.version > first);
    assert_int_equal(set_if("k", "2", STORE_IF_VERSION, first), ERR_CONFLICT);
}

/* ---- numbers ---- */

static void numbers_count_and_do_not_overflow(void **state) {
    (void)state;
    assert_int_equal(increase("n", 5), ERR_OK);
    assert_int_equal(r->reply.number, 5);
    assert_int_equal(increase("n", -7), ERR_OK);
    assert_true(r->reply.number == -2);
    holds_number("n", -2);
    set("t", "9223372036854775806");
    assert_int_equal(increase("t", 1), ERR_OK); /* a text that is a number counts on */
    holds_number("t", INT64_MAX);
    assert_int_equal(increase("t", 1), ERR_LIMIT);
    holds_number("t", INT64_MAX);
    set("m", "-9223372036854775808");
    assert_int_equal(increase("m", -1), ERR_LIMIT);
    assert_int_equal(increase("m", 0), ERR_OK);
    holds_number("m", INT64_MIN);
    const char *no_numbers[] = {"", "-", "-0", "007", "1x", "9223372036854775808", "99999999999999999999", " 1", "+1"};
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) {
        set("text", no_numbers[i]);
        assert_int_equal(increase("text", 1), ERR_STATE);
    }
    fixture_check_digests(r);
}

/* ---- sets ---- */

static void collect_text(void *ctx, struct slice text) {
    char *out = ctx;
    snprintf(out + strlen(out), 64, "%.*s ", SLICE_FMT(text));
}

static void what_is_no_number_is_not_counted(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "-",
                                        "7a",
                                        "007",
                                        "-0",
                                        "+1",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "1111111111111111111111111111111"};
    for (uint32_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        set("n", texts[i]);
        assert_int_not_equal(increase("n", 1), ERR_OK);
        holds("n", texts[i]);
    }
    set("n", "-9223372036854775808");
    assert_int_equal(increase("n", 1), ERR_OK);
    holds_number("n", INT64_MIN + 1);
}

static void sets_answer_how_many_are_new(void **state) {
    (void)state;
    assert_int_equal(members(STORE_ADD, "s", "y", "x"), ERR_OK);
    assert_int_equal(r->reply.number, 2);
    assert_int_equal(members(STORE_ADD, "s", "x", "z"), ERR_OK);
    assert_int_equal(r->reply.number, 1);
    uint64_t version = version_of("s");
    assert_int_equal(members(STORE_ADD, "s", "x", "x"), ERR_OK);
    assert_int_equal(r->reply.number, 0);
    assert_int_equal(version_of("s"), version);
    assert_int_equal(members(STORE_REMOVE, "s", "y", "nobody"), ERR_OK);
    assert_int_equal(r->reply.number, 1);
    char text[64] = "";
    struct slice last;
    struct store_place place = {SLICE("acme"), {0}};
    struct store_page page = {.most = 10};
    assert_false(
        view_members(engine_state(r->engine), r->in.wall, place, SLICE("s"), &page, collect_text, text, &last));
    assert_string_equal(text, "x z ");
    assert_true(view_member(engine_state(r->engine), r->in.wall, place, SLICE("s"), SLICE("x")));
    assert_false(view_member(engine_state(r->engine), r->in.wall, place, SLICE("s"), SLICE("y")));
    fixture_check_digests(r);
    assert_int_equal(members(STORE_REMOVE, "s", "x", "z"), ERR_OK);
    assert_int_equal(r->reply.version, 0);
    is_absent("s"); /* a set without members is not there */
    assert_int_equal(members(STORE_REMOVE, "s", "x", NULL), ERR_OK);
    assert_int_equal(r->reply.number, 0);
    fixture_check_digests(r);
}

static void kinds_do_not_mix(void **state) {
    (void)state;
    set("t", "text");
    assert_int_equal(members(STORE_ADD, "t", "a", NULL), ERR_STATE);
    assert_int_equal(members(STORE_ADD, "s", "a", NULL), ERR_OK);
    assert_int_equal(increase("s", 1), ERR_STATE);
    struct store_entry e = {SLICE("s"), SLICE("5")};
    struct cmd_store c = {.op = STORE_SET, .entries = &e, .entry_count = 1, .condition = STORE_IF_VALUE};
    assert_int_equal(run(c), ERR_CONFLICT); /* a set is no value, not even the empty one */
    set("s", "now a text");
    holds("s", "now a text");
    assert_int_equal(members(STORE_REMOVE, "s", "a", NULL), ERR_STATE);
    fixture_check_digests(r);
}

/* A large set is gone at once; its memory follows, and a new one under the same key has none of its members. */
static void a_large_set_goes_in_steps(void **state) {
    (void)state;
    char names[1000][8];
    struct slice list[1000];
    for (uint32_t round = 0; round < 10; round++) {
        for (uint32_t i = 0; i < 1000; i++) {
            int len = snprintf(names[i], sizeof names[i], "%u.%u", round, i);
            list[i] = slice_of(names[i], (size_t)len);
        }
        struct cmd_store c = {.op = STORE_ADD, .key = SLICE("s"), .members = list, .member_count = 1000};
        assert_int_equal(run(c), ERR_OK);
        assert_int_equal(r->reply.number, 1000);
    }
    fixture_check_digests(r);
    struct command cmd = {.kind = CMD_STORE, .tenant = SLICE("acme"), .token = 99};
    struct store_entry e = {SLICE("s"), {0}};
    cmd.as.store = (struct cmd_store){.op = STORE_DELETE, .entries = &e, .entry_count = 1};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    assert_true(engine_has_work(r->engine)); /* most of its memory is still there */
    fixture_flush(r);
    is_absent("s");
    fixture_check_digests(r);
    cmd.as.store = (struct cmd_store){.op = STORE_ADD, .key = SLICE("s"), .members = list, .member_count = 1};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    fixture_flush(r);
    struct item_view v;
    assert_true(look("s", &v));
    assert_int_equal(v.members, 1);
    fixture_check_digests(r);
    fixture_tick(r, 1);
    assert_false(engine_has_work(r->engine));
    struct store_counts counts = view_store_counts(engine_state(r->engine), SLICE("acme"));
    assert_int_equal(counts.keys, 1);
    assert_true(counts.bytes < 300);
}

/* ---- time ---- */

static void a_key_expires_on_time(void **state) {
    (void)state;
    set_until("k", "v", 1000);
    fixture_tick(r, 999);
    holds("k", "v");
    fixture_check_digests(r);
    uint64_t lsn = engine_lsn(r->engine);
    fixture_tick(r, 1);
    is_absent("k");
    assert_int_equal(engine_lsn(r->engine), lsn + 1); /* by a record */
    fixture_check_digests(r);
}

static void an_expired_key_is_absent_before_the_tick(void **state) {
    (void)state;
    set_until("k", "v", 1000);
    assert_int_equal(members(STORE_ADD, "s", "old", NULL), ERR_OK);
    assert_int_equal(expire("s", r->in.wall.ms + 1000), ERR_OK);
    set_until("n", "7", 1000);
    r->in.wall.ms += 1000; /* and no tick: the commands below come first in their passes */
    is_absent("k");
    struct store_entry e = {SLICE("k"), SLICE("mine")};
    struct command cmds[] = {
        {.kind = CMD_STORE, .tenant = SLICE("acme"), .token = 1},
        {.kind = CMD_STORE, .tenant = SLICE("acme"), .token = 2},
        {.kind = CMD_STORE, .tenant = SLICE("acme"), .token = 3},
    };
    struct slice fresh[] = {SLICE("new")};
    cmds[0].as.store =
        (struct cmd_store){.op = STORE_SET, .entries = &e, .entry_count = 1, .condition = STORE_IF_ABSENT};
    cmds[1].as.store = (struct cmd_store){.op = STORE_ADD, .key = SLICE("s"), .members = fresh, .member_count = 1};
    cmds[2].as.store = (struct cmd_store){.op = STORE_INCREASE, .key = SLICE("n"), .number = 1};
    engine_begin(r->engine, &r->in);
    for (int i = 0; i < 3; i++) engine_command(r->engine, &cmds[i]);
    engine_finish(r->engine);
    fixture_flush(r);
    assert_int_equal(r->reply.err, ERR_OK);
    holds("k", "mine");
    holds_number("n", 1);
    struct item_view v;
    assert_true(look("s", &v));
    assert_int_equal(v.members, 1);
    assert_true(v.expires.ms == TIME_NEVER); /* nothing of the old one is left, not even its time */
    fixture_check_digests(r);
}

static void expiry_is_moved_taken_off_and_kept(void **state) {
    (void)state;
    set_until("k", "v", 1000);
    uint64_t version = version_of("k");
    assert_int_equal(expire("k", r->in.wall.ms + 5000), ERR_OK);
    assert_int_equal(r->reply.number, 1);
    assert_int_equal(version_of("k"), version); /* the value is the same */
    fixture_tick(r, 2000);
    holds("k", "v");
    assert_int_equal(increase("nothing", 0), ERR_OK);
    struct store_entry e = {SLICE("k"), SLICE("w")};
    assert_int_equal(run((struct cmd_store){.op = STORE_SET, .entries = &e, .entry_count = 1, .keep_expiry = true}),
                     ERR_OK);
    struct item_view v;
    assert_true(look("k", &v));
    assert_int_equal(v.expires.ms, r->in.wall.ms + 3000);
    assert_int_equal(expire("k", 0), ERR_OK);
    fixture_tick(r, 100000);
    holds("k", "w");
    set_until("k", "x", 1000);
    set("k", "y"); /* a plain set takes the time off */
    fixture_tick(r, 100000);
    holds("k", "y");
    uint64_t lsn = engine_lsn(r->engine);
    assert_int_equal(expire("k", 0), ERR_OK); /* nothing to do, nothing recorded */
    assert_int_equal(expire("nobody", 0), ERR_OK);
    assert_int_equal(r->reply.number, 0);
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_int_equal(expire("k", r->in.wall.ms - 1), ERR_OK); /* over at once */
    assert_int_equal(r->reply.number, 1);
    is_absent("k");
    assert_int_equal(run((struct cmd_store){.op = STORE_SET, .entries = &e, .entry_count = 1, .expires_ms = 1}),
                     ERR_INVALID);
    struct state_counts counts;
    view_counts(engine_state(r->engine), engine_live(r->engine), &counts);
    assert_int_equal(counts.reserved_bytes, 0);
    fixture_check_digests(r);
}

static void a_crash_keeps_values_and_times(void **state) {
    (void)state;
    set("a", "1");
    set_until("b", "2", 5000);
    assert_int_equal(members(STORE_ADD, "c", "x", "y"), ERR_OK);
    assert_int_equal(increase("d", 4), ERR_OK);
    uint64_t version = version_of("b");
    fixture_crash(r);
    holds("a", "1");
    holds("b", "2");
    assert_int_equal(version_of("b"), version);
    assert_int_equal(members(STORE_ADD, "c", "x", "z"), ERR_OK);
    assert_int_equal(r->reply.number, 1);
    fixture_tick(r, 5000);
    is_absent("b");
    fixture_check_digests(r);
    /* and from a snapshot: the timer is there again */
    set_until("e", "5", 1000);
    struct engine *reloaded = fixture_reload(r);
    engine_free(r->engine);
    r->engine = reloaded;
    r->in.wall.ms += 2000;
    engine_resume(r->engine, ++r->epoch, SLICE("test"), &r->in);
    engine_finish(r->engine);
    fixture_flush(r);
    struct store_place place = {SLICE("acme"), {0}};
    struct item_view v;
    assert_false(view_item(engine_state(r->engine), (wall_time){0}, place, SLICE("e"), &v)); /* removed, not hidden */
}

/* ---- namespaces ---- */

static void submit_flow(void) {
    struct options o;
    options_default(&o);
    o.retries = 0;
    const char *jobs[] = {"a"};
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_OK);
    flow = r->reply.flow;
}

static void end_flow(void) {
    assert_int_equal(fixture_cancel(r, (struct job_ref){flow, UINT32_MAX}), ERR_OK);
    struct command cmd = {.kind = CMD_FORGET, .tenant = SLICE("acme")};
    cmd.as.flow = flow;
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
}

static void namespaces_are_apart(void **state) {
    (void)state;
    set("k", "tenant");
    submit_flow();
    is_absent("k");
    set("k", "flow");
    holds("k", "flow");
    flow.v = 0;
    holds("k", "tenant");
    struct command cmd = {.kind = CMD_STORE, .tenant = SLICE("evil")};
    struct store_entry e = {SLICE("k"), SLICE("theirs")};
    cmd.as.store = (struct cmd_store){.op = STORE_SET, .entries = &e, .entry_count = 1};
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    holds("k", "tenant");
    cmd.as.store.flow.v = 1;
    assert_int_equal(fixture_command(r, &cmd), ERR_NOT_FOUND); /* another tenant's flow is no flow */
    cmd.tenant = (struct slice){0};
    assert_int_equal(fixture_command(r, &cmd), ERR_OK); /* an administrator reaches it */
    struct item_view v;
    struct store_place place = {{0}, {1}};
    assert_true(view_item(engine_state(r->engine), r->in.wall, place, SLICE("k"), &v));
    assert_true(slice_eq(v.value, SLICE("theirs")));
    place.tenant = SLICE("evil");
    assert_false(view_item(engine_state(r->engine), r->in.wall, place, SLICE("k"), &v));
    cmd.as.store.flow.v = 0;
    assert_int_equal(fixture_command(r, &cmd), ERR_INVALID); /* and must name a tenant for a tenant's own */
    fixture_check_digests(r);
}

static void a_namespace_ends_with_its_flow(void **state) {
    (void)state;
    submit_flow();
    char key[16];
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof key, "k%d", i);
        set_until(key, "v", 60000);
    }
    assert_int_equal(members(STORE_ADD, "s", "x", "y"), ERR_OK);
    fixture_check_digests(r);
    end_flow();
    is_absent("k1");
    fixture_check_digests(r);
    fixture_tick(r, 1);
    struct store_counts counts = view_store_counts(engine_state(r->engine), SLICE("acme"));
    assert_int_equal(counts.keys, 0);
    assert_int_equal(counts.bytes, 0);
    uint64_t lsn = engine_lsn(r->engine);
    fixture_tick(r, 100000); /* their times come and mean nothing */
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_int_equal(set_if("k", "v", STORE_ALWAYS, 0), ERR_NOT_FOUND);
    fixture_check_digests(r);
}

/* ---- pages ---- */

static void collect_key(void *ctx, const struct item_view *item) {
    collect_text(ctx, item->key);
}

static void pages_are_in_order_and_by_prefix(void **state) {
    (void)state;
    const char *keys[] = {"b2", "a", "b1", "b", "c", "b3", "ab"};
    for (size_t i = 0; i < 7; i++) set(keys[i], "v");
    set_until("b15", "soon gone", 10);
    r->in.wall.ms += 10;
    char text[200] = "";
    struct slice last = {0};
    struct store_place place = {SLICE("acme"), {0}};
    struct store_page page = {.prefix = SLICE("b"), .most = 2};
    int pages = 0;
    for (bool more = true; more; pages++) {
        page.after = last;
        more = view_items(engine_state(r->engine), r->in.wall, place, &page, collect_key, text, &last);
    }
    assert_string_equal(text, "b b1 b2 b3 ");
    assert_int_equal(pages, 3); /* the one that is over was looked at and not shown */
    text[0] = 0;
    page = (struct store_page){.most = 100};
    assert_false(view_items(engine_state(r->engine), r->in.wall, place, &page, collect_key, text, &last));
    assert_string_equal(text, "a ab b b1 b2 b3 c ");
    text[0] = 0;
    page.after = SLICE("b1x"); /* a key that was never there is as good a place */
    assert_false(view_items(engine_state(r->engine), r->in.wall, place, &page, collect_key, text, &last));
    assert_string_equal(text, "b2 b3 c ");
}

/* ---- watches ---- */

static uint32_t told; /* bits: number of each watch */

static void tell(void *ctx, uint64_t session, uint64_t id) {
    (void)ctx;
    assert_true(session == 7 || session == 8);
    told |= 1u << id;
}

static enum err watch(uint64_t id, const char *pattern, bool prefix, bool of_channel) {
    return run((struct cmd_store){.op = STORE_WATCH,
                                  .session = 7,
                                  .watch = id,
                                  .key = slice_str(pattern),
                                  .prefix = prefix,
                                  .of_channel = of_channel});
}

/* Whom the effects since the last call were for; how many there were. */
static uint32_t news(uint32_t *ret_told) {
    uint32_t count = 0;
    told = 0;
    for (uint32_t i = 0; i < r->effects.count; i++) {
        const struct effect *e = vec_at(&r->effects, i);
        if (e->kind != EFFECT_CHANGED && e->kind != EFFECT_PUBLISHED) continue;
        count++;
        engine_watchers(r->engine, e, tell, NULL);
    }
    r->effects.count = 0;
    *ret_told = told;
    return count;
}

static void watchers_hear_of_changes(void **state) {
    (void)state;
    uint32_t whom;
    assert_int_equal(watch(1, "a/x", false, false), ERR_OK);
    assert_int_equal(watch(2, "a/", true, false), ERR_OK);
    assert_int_equal(watch(3, "a/y", false, false), ERR_OK);
    r->effects.count = 0;
    set("a/x", "1");
    const struct effect *e = vec_at(&r->effects, 0);
    assert_int_equal(e->kind, EFFECT_CHANGED);
    assert_int_equal(e->lsn, engine_lsn(r->engine));
    assert_int_equal(e->as.store.version, version_of("a/x"));
    assert_true(slice_eq(e->as.store.key, SLICE("a/x")));
    assert_true(slice_eq(e->as.store.tenant, SLICE("acme")));
    assert_int_equal(news(&whom), 1);
    assert_int_equal(whom, 1u << 1 | 1u << 2);
    set("b", "1");
    assert_int_equal(news(&whom), 0); /* nobody watches: no effect at all */
    set_until("a/z", "1", 100);
    assert_int_equal(members(STORE_ADD, "a/y", "m", NULL), ERR_OK);
    assert_int_equal(del("a/x"), 1);
    assert_int_equal(news(&whom), 3);
    assert_int_equal(whom, 1u << 1 | 1u << 2 | 1u << 3);
    fixture_tick(r, 100);
    e = vec_at(&r->effects, 0);
    assert_int_equal(e->as.store.version, 0);
    assert_int_equal(news(&whom), 1);                     /* expiry is a change */
    assert_int_equal(watch(2, "b", true, false), ERR_OK); /* a second one under its number replaces it */
    set("a/z", "1");
    assert_int_equal(news(&whom), 0);
    assert_int_equal(run((struct cmd_store){.op = STORE_UNWATCH, .session = 7, .watch = 2}), ERR_OK);
    set("b", "1");
    assert_int_equal(news(&whom), 0);
    assert_int_equal(run((struct cmd_store){.op = STORE_UNWATCH, .session = 7}), ERR_OK); /* the session is over */
    set("a/x", "1");
    assert_int_equal(news(&whom), 0);
}

static void nothing_is_heard_before_it_is_durable(void **state) {
    (void)state;
    uint32_t whom;
    assert_int_equal(watch(1, "", true, false), ERR_OK);
    assert_int_equal(watch(2, "news", false, true), ERR_OK);
    r->effects.count = 0;
    r->hold = true;
    assert_int_equal(set_if("k", "v", STORE_ALWAYS, 0), ERR_UNKNOWN);
    struct cmd_store c = {.op = STORE_PUBLISH, .key = SLICE("news"), .value = SLICE("k is v")};
    assert_int_equal(run(c), ERR_UNKNOWN); /* who publishes may have seen what is not durable yet */
    assert_int_equal(news(&whom), 0);
    r->hold = false;
    fixture_flush(r);
    assert_int_equal(r->reply.number, 1);
    const struct effect *e = vec_at(&r->effects, r->effects.count - 2);
    assert_int_equal(e->kind, EFFECT_PUBLISHED);
    assert_true(slice_eq(e->as.store.body, SLICE("k is v")));
    assert_int_equal(news(&whom), 2);
    assert_int_equal(whom, 1u << 1 | 1u << 2);
    uint64_t lsn = engine_lsn(r->engine);
    c.key = SLICE("nobody listens");
    assert_int_equal(run(c), ERR_OK);
    assert_int_equal(r->reply.number, 0);
    assert_int_equal(engine_lsn(r->engine), lsn); /* a message is no fact */
    /* what waits when the engine ends is freed with it */
    r->hold = true;
    set_if("k", "w", STORE_ALWAYS, 0);
    fixture_crash(r);
}

static void the_end_of_a_namespace_is_heard(void **state) {
    (void)state;
    uint32_t whom;
    submit_flow();
    assert_int_equal(watch(1, "k", false, false), ERR_OK);
    set("k", "v");
    r->effects.count = 0;
    end_flow();
    assert_int_equal(news(&whom), 1);
    assert_int_equal(whom, 1u << 1);
    assert_int_equal(run((struct cmd_store){.op = STORE_UNWATCH, .session = 7}), ERR_OK);
}

static enum err unwatch(uint64_t id) {
    return run((struct cmd_store){.op = STORE_UNWATCH, .session = 7, .watch = id});
}

/* Three wait for one key: whichever leaves, first, middle or last, the others go on. */
static void watchers_of_one_key_leave_in_any_order(void **state) {
    (void)state;
    uint32_t whom;
    for (uint32_t order = 0; order < 6; order++) {
        uint32_t left = 1u << 1 | 1u << 2 | 1u << 3;
        uint64_t first = order / 2 + 1, second = (order / 2 + order % 2 + 1) % 3 + 1;
        for (uint64_t id = 1; id <= 3; id++) assert_int_equal(watch(id, "k", false, false), ERR_OK);
        r->effects.count = 0;
        for (uint64_t go = first; left; go = go == first ? second : 6 - first - second) {
            set("k", "v");
            assert_int_equal(news(&whom), 1);
            assert_int_equal(whom, left);
            assert_int_equal(unwatch(go), ERR_OK);
            left &= ~(1u << go);
        }
        set("k", "v");
        assert_int_equal(news(&whom), 0);
    }
    assert_int_equal(unwatch(1), ERR_OK); /* of a session that has none */
    assert_int_equal(unwatch(0), ERR_OK);
}

/* Whoever watches another flow, or a channel of this one, does not hear of its end. */
static void the_end_of_a_namespace_is_heard_by_its_own(void **state) {
    (void)state;
    uint32_t whom;
    submit_flow();
    flow_id first = flow;
    assert_int_equal(watch(1, "k", false, false), ERR_OK);
    assert_int_equal(watch(2, "k", false, true), ERR_OK);
    submit_flow();
    assert_int_equal(watch(3, "k", false, false), ERR_OK);
    assert_int_equal(watch(4, "k", false, false), ERR_OK);
    assert_int_equal(unwatch(4), ERR_OK); /* leaves a hole */
    set("k", "v");
    flow = first;
    set("k", "v");
    r->effects.count = 0;
    end_flow();
    assert_int_equal(news(&whom), 1);
    assert_int_equal(whom, 1u << 1);
    submit_flow();
    set("k", "v");
    r->effects.count = 0;
    end_flow(); /* nobody watched it */
    assert_int_equal(news(&whom), 0);
}

static void watches_that_make_no_sense_are_refused(void **state) {
    (void)state;
    struct cmd_store c = {.op = STORE_WATCH, .session = 7, .watch = 1, .key = SLICE("k")};
    c.session = 0;
    assert_refused(r, run(c), ERR_INVALID, "a session and a number");
    c.session = 7;
    c.watch = 0;
    assert_refused(r, run(c), ERR_INVALID, "a session and a number");
    c.watch = 1;
    c.key.len = 0;
    assert_refused(r, run(c), ERR_INVALID, "key");
    c.prefix = true; /* everything */
    assert_int_equal(run(c), ERR_OK);
    static char long_key[2000];
    memset(long_key, 'k', sizeof long_key);
    c.key = slice_of(long_key, sizeof long_key);
    assert_refused(r, run(c), ERR_LIMIT, "store_key_bytes_max");
    c = (struct cmd_store){.op = STORE_UNWATCH};
    assert_refused(r, run(c), ERR_INVALID, "belongs to a session");
    flow.v = 77;
    assert_int_equal(set_if("k", "v", STORE_ALWAYS, 0), ERR_NOT_FOUND);
}

/* ---- what a reader may ask ---- */

static void questions_about_nothing(void **state) {
    (void)state;
    struct item_view v;
    struct slice last;
    char text[64] = "";
    static char long_key[5000];
    memset(long_key, 'k', sizeof long_key);
    const struct state *s = engine_state(r->engine);
    struct slice far = slice_of(long_key, sizeof long_key);
    set("k", "v");
    assert_int_equal(members(STORE_ADD, "s", "mm", "nn"), ERR_OK);
    struct store_place acme = {SLICE("acme"), {0}}, gone = {{0}, {99}}, nobody = {SLICE("nobody"), {0}};
    assert_false(view_item(s, r->in.wall, gone, SLICE("k"), &v));
    assert_false(view_item(s, r->in.wall, acme, far, &v));
    assert_false(view_member(s, r->in.wall, acme, SLICE("k"), SLICE("m"))); /* not a set */
    assert_false(view_member(s, r->in.wall, acme, SLICE("x"), SLICE("m")));
    assert_false(view_member(s, r->in.wall, acme, SLICE("s"), far));
    assert_true(view_member(s, r->in.wall, acme, SLICE("s"), SLICE("mm")));
    struct store_page page = {.most = 10};
    assert_false(view_items(s, r->in.wall, nobody, &page, collect_key, text, &last));
    assert_false(view_members(s, r->in.wall, acme, SLICE("k"), &page, collect_text, text, &last));
    assert_false(view_members(s, r->in.wall, acme, SLICE("x"), &page, collect_text, text, &last));
    page.after = far;
    assert_false(view_items(s, r->in.wall, acme, &page, collect_key, text, &last));
    assert_false(view_members(s, r->in.wall, acme, SLICE("s"), &page, collect_text, text, &last));
    page = (struct store_page){.most = 10, .prefix = SLICE("kkk")};
    assert_false(view_items(s, r->in.wall, acme, &page, collect_key, text, &last));
    assert_string_equal(text, "");
    page.prefix = SLICE("m");
    assert_false(view_members(s, r->in.wall, acme, SLICE("s"), &page, collect_text, text, &last));
    assert_string_equal(text, "mm ");
    struct store_counts counts = view_store_counts(s, SLICE("nobody"));
    assert_int_equal(counts.keys, 0);
}

/* ---- limits ---- */

/* An engine with other limits, as after a restart with another configuration. */
static void with_limits(const struct limits *l) {
    engine_free(r->engine);
    r->limits = *l;
    r->engine = fixture_replay(r);
    r->in.wall.ms++;
    engine_resume(r->engine, ++r->epoch, SLICE("test"), &r->in);
    fixture_flush(r);
}

static void the_whole_store_has_limits(void **state) {
    (void)state;
    struct limits l = r->limits;
    struct store_entry e[] = {{SLICE("a"), SLICE("1")}, {SLICE("b"), SLICE("2")}};
    struct cmd_store two = {.op = STORE_SET, .entries = e, .entry_count = 2};
    l.store_tenant_keys_max = 1;
    with_limits(&l);
    assert_refused(r, run(two), ERR_LIMIT, "the tenant has 0 keys already (store_tenant_keys_max)");
    l.store_tenant_keys_max = 100;
    l.store_tenant_bytes_max = 1;
    with_limits(&l);
    assert_refused(r, run(two), ERR_LIMIT, "store_tenant_bytes_max"); /* a tenant nobody has heard of */
    l.store_tenant_bytes_max = 100000;
    l.tenants_max = 0;
    with_limits(&l);
    assert_refused(r, run(two), ERR_LIMIT, "tenants_max");
    l.tenants_max = 1;
    with_limits(&l);
    assert_int_equal(run(two), ERR_OK);
    set("a", "9"); /* known by now */
    assert_int_equal(members(STORE_ADD, "s", "m", NULL), ERR_OK);
    l.store_keys_max = 2;
    with_limits(&l);
    assert_refused(r, set_if("c", "3", STORE_ALWAYS, 0), ERR_BUSY, "the store has 3 keys already (store_keys_max)");
    l.store_keys_max = 100;
    l.submit_bytes_max = 20;
    with_limits(&l);
    assert_refused(r, set_if("c", "a longer value", STORE_ALWAYS, 0), ERR_LIMIT, "submit_bytes_max");
    l.submit_bytes_max = 1 << 20;
    l.watches_max = 1;
    with_limits(&l);
    assert_int_equal(watch(1, "k", false, false), ERR_OK);
    assert_refused(r, watch(2, "k", false, false), ERR_BUSY, "there are 1 watches already (watches_max)");
    r->in.journal_free_bytes = 1 << 20; /* enough */
    set("c", "3");
    assert_refused(r, members(STORE_ADD, "s", "n", ""), ERR_INVALID, "member");
    assert_refused(r, increase("", 1), ERR_INVALID, "key");
    struct cmd_store none = {.op = STORE_ADD, .key = SLICE("s")};
    assert_refused(r, run(none), ERR_INVALID, "");
}

/* The flow is forgotten at the very moment at which its keys would expire: there is nothing left to expire. */
static void keys_of_a_namespace_that_went_do_not_expire(void **state) {
    (void)state;
    static char keys[1000][8];
    struct store_entry e[1000];
    submit_flow();
    for (uint32_t round = 0; round < 6; round++) { /* more than one step gives back */
        for (uint32_t i = 0; i < 1000; i++) {
            (void)snprintf(keys[i], sizeof keys[i], "%u.%u", round, i);
            e[i] = (struct store_entry){slice_str(keys[i]), SLICE("v")};
        }
        struct cmd_store c = {.op = STORE_SET, .entries = e, .entry_count = 1000, .expires_ms = r->in.wall.ms + 1000};
        assert_int_equal(run(c), ERR_OK);
    }
    assert_int_equal(fixture_cancel(r, (struct job_ref){flow, UINT32_MAX}), ERR_OK);
    r->in.wall.ms += 1000;
    r->in.mono.ms += 1000;
    struct command cmd = {.kind = CMD_FORGET, .tenant = SLICE("acme")};
    cmd.as.flow = flow;
    uint64_t lsn = engine_lsn(r->engine);
    cmd.token = 1;
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    assert_true(engine_has_work(r->engine)); /* keys that nobody can find any more, to be given back */
    engine_finish(r->engine);
    fixture_flush(r);
    fixture_tick(r, 0);
    assert_false(engine_has_work(r->engine));
    assert_int_equal(engine_lsn(r->engine), lsn + 1);
    fixture_check_digests(r);
}

static void limits_are_kept(void **state) {
    struct fixture *rig = *state;
    fixture_fini(rig);
    fixture_init(rig);
    engine_free(rig->engine);
    struct limits *l = &rig->limits;
    l->store_key_bytes_max = 4;
    l->store_value_bytes_max = 10;
    l->store_entries_max = 2;
    l->store_set_members_max = 3;
    l->store_tenant_keys_max = 3;
    l->store_space_keys_max = 2;
    l->store_tenant_bytes_max = 1000;
    l->session_watches_max = 1;
    l->publish_bytes_max = 3;
    rig->engine = fixture_replay(rig);
    rig->in.wall.ms++;
    engine_resume(rig->engine, ++rig->epoch, SLICE("test"), &rig->in);
    fixture_flush(rig);
    assert_int_equal(set_if("", "v", STORE_ALWAYS, 0), ERR_INVALID);
    assert_int_equal(set_if("12345", "v", STORE_ALWAYS, 0), ERR_LIMIT);
    assert_int_equal(set_if("k", "12345678901", STORE_ALWAYS, 0), ERR_LIMIT);
    struct store_entry e[] = {{SLICE("a"), {0}}, {SLICE("b"), {0}}, {SLICE("c"), {0}}};
    assert_int_equal(run((struct cmd_store){.op = STORE_SET, .entries = e, .entry_count = 3}), ERR_LIMIT);
    assert_int_equal(run((struct cmd_store){.op = STORE_SET}), ERR_INVALID);
    assert_int_equal(members(STORE_ADD, "s", "1", "2"), ERR_OK);
    assert_int_equal(members(STORE_ADD, "s", "2", "3"), ERR_OK); /* one of them is there already */
    assert_int_equal(members(STORE_ADD, "s", "4", NULL), ERR_LIMIT);
    set("k", "v");
    assert_int_equal(set_if("k2", "v", STORE_ALWAYS, 0), ERR_LIMIT); /* of the namespace */
    set("k", "w");                                                   /* what is there may change */
    submit_flow();
    set("k", "v");
    assert_int_equal(set_if("k2", "v", STORE_ALWAYS, 0), ERR_LIMIT); /* of the tenant */
    flow.v = 0;
    assert_int_equal(watch(1, "k", false, false), ERR_OK);
    assert_int_equal(watch(2, "k", false, false), ERR_LIMIT);
    assert_int_equal(watch(1, "k2", false, false), ERR_OK);
    struct cmd_store c = {.op = STORE_PUBLISH, .key = SLICE("c"), .value = SLICE("1234")};
    assert_int_equal(run(c), ERR_LIMIT);
    assert_int_equal(run((struct cmd_store){.op = STORE_OP_COUNT, .key = SLICE("k")}), ERR_INVALID);
    assert_int_equal(expire("k", r->in.wall.ms + l->store_ttl_ms_max + 1), ERR_LIMIT);
    assert_int_equal(expire("k", -1), ERR_OK); /* long over */
    is_absent("k");
    fixture_check_digests(r);
}

static void bytes_of_a_tenant_are_counted(void **state) {
    (void)state;
    struct store_counts counts;
    set("k", "12345");
    counts = view_store_counts(engine_state(r->engine), SLICE("acme"));
    uint64_t one = counts.bytes;
    assert_int_equal(counts.keys, 1);
    set("k", "1");
    counts = view_store_counts(engine_state(r->engine), SLICE("acme"));
    assert_int_equal(counts.bytes, one - 4);
    assert_int_equal(members(STORE_ADD, "s", "x", "y"), ERR_OK);
    assert_int_equal(members(STORE_REMOVE, "s", "x", NULL), ERR_OK);
    set("s", "z");
    del("s");
    counts = view_store_counts(engine_state(r->engine), SLICE("acme"));
    assert_int_equal(counts.bytes, one - 4);
    del("k");
    counts = view_store_counts(engine_state(r->engine), SLICE("acme"));
    assert_int_equal(counts.bytes, 0);
    assert_int_equal(counts.keys, 0);
}

/* A journal that is nearly full takes no new values, and still lets go of old ones. */
static void a_full_journal_refuses_growth(void **state) {
    (void)state;
    set("k", "v");
    r->in.journal_free_bytes = 10;
    assert_int_equal(set_if("k2", "v", STORE_ALWAYS, 0), ERR_NO_SPACE);
    assert_int_equal(members(STORE_ADD, "s", "a", NULL), ERR_NO_SPACE);
    assert_int_equal(increase("n", 1), ERR_NO_SPACE);
    assert_int_equal(del("k"), 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_value_is_set_read_and_deleted),
        TEST(many_are_set_in_one_record),
        TEST(conditions_are_kept),
        TEST(a_version_never_comes_back),
        TEST(numbers_count_and_do_not_overflow),
        TEST(what_is_no_number_is_not_counted),
        TEST(sets_answer_how_many_are_new),
        TEST(kinds_do_not_mix),
        TEST(a_large_set_goes_in_steps),
        TEST(a_key_expires_on_time),
        TEST(an_expired_key_is_absent_before_the_tick),
        TEST(expiry_is_moved_taken_off_and_kept),
        TEST(a_crash_keeps_values_and_times),
        TEST(namespaces_are_apart),
        TEST(a_namespace_ends_with_its_flow),
        TEST(pages_are_in_order_and_by_prefix),
        TEST(watchers_hear_of_changes),
        TEST(nothing_is_heard_before_it_is_durable),
        TEST(the_end_of_a_namespace_is_heard),
        TEST(watchers_of_one_key_leave_in_any_order),
        TEST(the_end_of_a_namespace_is_heard_by_its_own),
        TEST(watches_that_make_no_sense_are_refused),
        TEST(questions_about_nothing),
        TEST(the_whole_store_has_limits),
        TEST(keys_of_a_namespace_that_went_do_not_expire),
        TEST(limits_are_kept),
        TEST(bytes_of_a_tenant_are_counted),
        TEST(a_full_journal_refuses_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
