/* history_test.c: the history on a real file: what is put is found, by every way of asking, page after page; it
 * survives closing, damage and loss as far as it says. */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "hfind.h"
#include "hload.h"
#include "hput.h"
#include "hstore.h"
#include "tmpdisk.h"

struct lab {
    struct tmpdisk tmp;
    struct history *h;
    struct hstore_options options;
    char dir[300], notes[2000];
    uint32_t answers;
    int64_t wall_ms;
    uint64_t durable_lsn;
    struct history_answer answer;
    struct arena arena;
};

static void answered(void *ctx, const struct history_answer *a) {
    struct lab *l = ctx;
    arena_reset(&l->arena);
    struct history_found *found = ARENA_ARRAY(&l->arena, struct history_found, a->count + 1);
    struct slice *parts = ARENA_ARRAY(&l->arena, struct slice, a->part_count + 1);
    for (uint32_t i = 0; i < a->count; i++) {
        found[i] = a->found[i];
        found[i].head = arena_slice(&l->arena, a->found[i].head);
    }
    for (uint32_t i = 0; i < a->part_count; i++) parts[i] = arena_slice(&l->arena, a->parts[i]);
    l->answer = *a;
    l->answer.found = found;
    l->answer.parts = parts;
    l->answers++;
}

static void noted(void *ctx, enum history_note level, const char *text) {
    struct lab *l = ctx;
    (void)level;
    size_t len = strlen(l->notes);
    snprintf(l->notes + len, sizeof l->notes - len, "%s\n", text);
}

static void take(struct lab *l, const struct history_taker *to) {
    struct history_turn t = {test_mono_ms(), l->wall_ms, l->durable_lsn, true};
    l->h->ops->take(l->h, &t, to);
}

static void turn(struct lab *l) {
    struct history_taker to = {answered, noted, l};
    take(l, &to);
    struct pollfd p = {l->h->ops->fd(l->h), POLLIN, 0};
    int64_t wait = l->h->ops->next(l->h) - test_mono_ms();
    (void)poll(&p, 1, wait < 0 ? 0 : wait > 1000 ? 1000 : (int)wait);
    take(l, &to);
}

static void lab_open(struct lab *l) {
    struct why why;
    if (hstore_open(&l->options, &l->h, &why) != ERR_OK) fail_msg("%s", why.text);
}

static void lab_close(struct lab *l) {
    if (l->h != NULL) l->h->ops->close(l->h);
    l->h = NULL;
}

static void path_of(const struct lab *l, char path[400]) {
    snprintf(path, 400, "%s/flows.db", l->dir);
}

static int setup(void **state) {
    static struct lab lab;
    lab = (struct lab){0};
    tmpdisk_make(&lab.tmp);
    snprintf(lab.dir, sizeof lab.dir, "%s/history", lab.tmp.path);
    lab.durable_lsn = UINT64_MAX;
    lab.wall_ms = 1000000;
    lab.options = (struct hstore_options){.dir = lab.dir, .wall_ms = 5};
    arena_init(&lab.arena, 65536, (size_t)1 << 28);
    lab_open(&lab);
    *state = &lab;
    return 0;
}

static int teardown(void **state) {
    struct lab *l = *state;
    lab_close(l);
    arena_fini(&l->arena);
    tmpdisk_remove(&l->tmp);
    return 0;
}

/* Nothing is with the writer, and nothing will be soon. */
static bool is_at_rest(struct lab *l) {
    int64_t next = l->h->ops->next(l->h);
    return next != INT64_MAX && next > test_mono_ms() + 1000;
}

/* A thread says that it is through a moment after it is; who took its result in between must not be told for ever. */
static void a_late_word_is_heard_once(void **state) {
    struct lab *l = *state;
    struct history_taker to = {answered, noted, l};
    struct pollfd p = {l->h->ops->fd(l->h), POLLIN, 0};
    uint64_t word = 1;
    /* The first turn hands the opening of the file over: its own word has to be heard before. */
    for (uint32_t i = 0; i < 1000 && !is_at_rest(l); i++) turn(l);
    assert_true(is_at_rest(l));
    assert_int_equal(write(p.fd, &word, sizeof word), sizeof word);
    assert_int_equal(poll(&p, 1, 0), 1);
    for (uint32_t i = 0; i < 1000 && poll(&p, 1, 0) == 1; i++)
        take(l, &to); /* twice at most: the opening's may come late */
    assert_int_equal(poll(&p, 1, 0), 0);
}

static struct history_stats stats_of(struct lab *l) {
    struct history_stats s;
    l->h->ops->stats(l->h, &s);
    return s;
}

static void until_durable(struct lab *l, uint64_t lsn) {
    for (uint32_t i = 0; i < 1000 && stats_of(l).lsn < lsn; i++) turn(l);
    assert_true(stats_of(l).lsn >= lsn);
}

static const struct history_answer *ask(struct lab *l, struct history_query q) {
    uint32_t before = l->answers;
    q.token = 77;
    assert_true(l->h->ops->ask(l->h, &q));
    for (uint32_t i = 0; i < 1000 && l->answers == before; i++) turn(l);
    assert_int_equal(l->answers, before + 1);
    assert_int_equal(l->answer.token, 77);
    return &l->answer;
}

/* Flow 1 to n: every seventh failed, every third is of tenant `acme`, names and labels by number. */
static void put_one(struct lab *l, uint64_t flow, uint64_t lsn, const char *state) {
    char name[40], labels[80], jobs[40], errors[60], head[40], body[60];
    snprintf(name, sizeof name, "etl-%llu", (unsigned long long)flow % 100);
    snprintf(labels, sizeof labels, "env=%s\nteam=t%llu\n", flow % 2 ? "prod" : "test", (unsigned long long)flow % 10);
    snprintf(jobs, sizeof jobs, "extract load%llu", (unsigned long long)flow % 1000);
    snprintf(errors, sizeof errors, "%s", strcmp(state, "failed") == 0 ? "no such table: kunden" : "");
    snprintf(head, sizeof head, "head %llu %s", (unsigned long long)flow, state);
    snprintf(body, sizeof body, "jobs of %llu at %llu", (unsigned long long)flow, (unsigned long long)lsn);
    l->h->ops->put_part(l->h, &(struct history_part){flow, lsn, 0, slice_str(body)});
    l->h->ops->put_row(l->h, &(struct history_row){.flow = flow,
                                                   .lsn = lsn,
                                                   .created_ms = (int64_t)flow * 10,
                                                   .finished_ms = (int64_t)flow * 10 + 5,
                                                   .tenant = slice_str(flow % 3 == 0 ? "acme" : "default"),
                                                   .name = slice_str(name),
                                                   .state = slice_str(state),
                                                   .schedule = slice_str(flow % 5 == 0 ? "nightly" : ""),
                                                   .labels = slice_str(labels),
                                                   .jobs = slice_str(jobs),
                                                   .errors = slice_str(errors),
                                                   .head = slice_str(head)});
}

static void put_many(struct lab *l, uint64_t first, uint64_t last) {
    for (uint64_t i = first; i <= last; i++) put_one(l, i, i, i % 7 == 0 ? "failed" : "succeeded");
    l->h->ops->reach(l->h, last);
    until_durable(l, last);
}

static void what_was_put_is_there_after_closing(void **state) {
    struct lab *l = *state;
    put_many(l, 1, 20);
    put_one(l, 21, 21, "succeeded"); /* not waited for */
    l->h->ops->reach(l->h, 21);
    lab_close(l);
    lab_open(l);
    assert_int_equal(stats_of(l).lsn, 21);
    assert_int_equal(stats_of(l).flows, 21);
    const struct history_answer *a = ask(l, (struct history_query){.most = 100});
    assert_int_equal(a->err, ERR_OK);
    assert_int_equal(a->count, 21);
    assert_int_equal(a->next, 0);
    assert_int_equal(a->found[0].flow, 21);
    assert_true(slice_eq(a->found[7].head, SLICE("head 14 failed")));
}

static void a_later_row_replaces_an_earlier_one_and_no_other(void **state) {
    struct lab *l = *state;
    put_one(l, 1, 10, "failed");
    put_one(l, 1, 20, "succeeded");
    put_one(l, 1, 15, "failed"); /* of an earlier state: too late */
    l->h->ops->reach(l->h, 20);
    until_durable(l, 20);
    const struct history_answer *a = ask(l, (struct history_query){.from = 1, .before = 2, .most = 1, .parts = true});
    assert_int_equal(a->count, 1);
    assert_int_equal(stats_of(l).flows, 1);
    assert_true(slice_eq(a->found[0].head, SLICE("head 1 succeeded")));
    assert_int_equal(a->part_count, 1);
    assert_true(slice_eq(a->parts[0], SLICE("jobs of 1 at 20")));
    assert_int_equal(ask(l, (struct history_query){.most = 9, .text = SLICE("kunden")})->count, 0);
}

static void pages_have_each_flow_once_though_others_come(void **state) {
    struct lab *l = *state;
    put_many(l, 1, 300);
    uint64_t before = 0, expected = 300, pages = 0;
    do {
        const struct history_answer *a = ask(l, (struct history_query){.most = 7, .before = before});
        before = a->next;
        for (uint32_t i = 0; i < a->count; i++) assert_int_equal(a->found[i].flow, expected--);
        if (++pages == 5) put_many(l, 301, 400);
    } while (before != 0);
    assert_int_equal(expected, 0);
    assert_int_equal(pages, 43);
}

static uint32_t count_all(struct lab *l, struct history_query q) {
    uint32_t count = 0;
    q.most = 50;
    do {
        const struct history_answer *a = ask(l, q);
        if (a->err != ERR_OK) fail_msg("%s", a->why.text);
        for (uint32_t i = 1; i < a->count; i++) assert_true(a->found[i].flow < a->found[i - 1].flow);
        count += a->count;
        q.before = a->next;
    } while (q.before != 0);
    return count;
}

static void every_filter_finds_what_it_should(void **state) {
    struct lab *l = *state;
    struct slice failed = SLICE("failed"), both[] = {SLICE("failed"), SLICE("succeeded")};
    struct slice prod = SLICE("env=prod"), team[] = {SLICE("env=prod"), SLICE("team=t3")}, half = SLICE("env=pro");
    put_many(l, 1, 700);
    assert_int_equal(count_all(l, (struct history_query){.states = &failed, .state_count = 1}), 100);
    assert_int_equal(count_all(l, (struct history_query){.states = both, .state_count = 2}), 700);
    assert_int_equal(count_all(l, (struct history_query){.tenant = SLICE("acme")}), 233);
    assert_int_equal(count_all(l, (struct history_query){.tenant = SLICE("default")}), 467);
    assert_int_equal(count_all(l, (struct history_query){.tenant = SLICE("nobody")}), 0);
    assert_int_equal(count_all(l, (struct history_query){.labels = &prod, .label_count = 1}), 350);
    assert_int_equal(count_all(l, (struct history_query){.labels = &half, .label_count = 1}), 0);
    assert_int_equal(count_all(l, (struct history_query){.labels = team, .label_count = 2}), 70);
    assert_int_equal(count_all(l, (struct history_query){.name = SLICE("etl-4")}), 77); /* 4 and 40 to 49 */
    assert_int_equal(count_all(l, (struct history_query){.name = SLICE("etl")}), 700);
    assert_int_equal(count_all(l, (struct history_query){.name = SLICE("-4")}), 0);
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("kunden")}), 100);
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("NO table kund")}), 100);
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("load7")}), 12); /* load7, load70 and so on */
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("table: \"kunden\" *")}), 100);
    /* a beginning that more words have than are asked for one by one; capitals; one behind another piece of a word */
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("load")}), 700);
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("LOAD69")}), 11);
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("team=t")}), 700);
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("team=t3")}), 70);
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("team-t3")}), 70);
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("extract t3")}), 70);
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("t3 ")}), 70); /* a whole word */
    assert_int_equal(count_all(l, (struct history_query){.text = SLICE("tea ")}), 0);
    assert_int_equal(count_all(l, (struct history_query){.job = SLICE("load7")}), 1);
    assert_int_equal(count_all(l, (struct history_query){.job = SLICE("kunden")}), 0); /* is no name of a job */
    assert_int_equal(count_all(l, (struct history_query){.label_key = SLICE("team")}), 700);
    assert_int_equal(count_all(l, (struct history_query){.schedule = SLICE("nightly")}), 140);
    assert_int_equal(count_all(l, (struct history_query){.schedule = SLICE("nightly"), .label_key = SLICE("team")}),
                     140);
    assert_int_equal(count_all(l, (struct history_query){.schedule = SLICE("night")}), 0);
    assert_int_equal(count_all(l, (struct history_query){.label_key = SLICE("tea")}), 0);
    assert_int_equal(count_all(l, (struct history_query){.label_key = SLICE("prod")}), 0);
    struct slice ended[] = {SLICE("failed"), SLICE("cancelled")};
    assert_int_equal(count_all(l, (struct history_query){.states = ended, .state_count = 2}), 100);
    struct history_query near = {.states = &failed, .state_count = 1, .labels = &prod, .label_count = 1};
    assert_int_equal(count_all(l, near), 50);
    assert_int_equal(count_all(l, (struct history_query){.since_ms = 1000}), 601);
    assert_int_equal(count_all(l, (struct history_query){.since_ms = 1001, .until_ms = 2000}), 99);
    assert_int_equal(count_all(l, (struct history_query){.since_ms = 100000}), 0);
    struct history_query all = {.states = &failed,
                                .state_count = 1,
                                .tenant = SLICE("acme"),
                                .name = SLICE("etl-"),
                                .labels = &prod,
                                .label_count = 1,
                                .text = SLICE("extract"),
                                .since_ms = 1000};
    assert_int_equal(count_all(l, all), 15); /* multiples of 21 that are odd, from 105 to 693 */
    assert_int_equal(ask(l, (struct history_query){.most = 5, .text = SLICE("--")})->err, ERR_INVALID);
}

static void a_large_flow_comes_in_parts(void **state) {
    struct lab *l = *state;
    char *body = test_malloc(100000);
    memset(body, 'j', 100000);
    for (uint64_t lsn = 5; lsn <= 6; lsn++) { /* once more, by a later state */
        for (uint32_t i = 0; i < 10; i++) {
            memcpy(body, &i, sizeof i);
            memcpy(body + 4, &lsn, sizeof lsn);
            l->h->ops->put_part(l->h, &(struct history_part){9, lsn, i, slice_of(body, 100000)});
            if (i == 4) turn(l);
        }
        l->h->ops->put_row(l->h, &(struct history_row){.flow = 9, .lsn = lsn, .state = SLICE("succeeded")});
        l->h->ops->reach(l->h, lsn);
        until_durable(l, lsn);
    }
    struct history_query one = {.from = 9, .before = 10, .most = 1, .parts = true};
    const struct history_answer *a = ask(l, one);
    assert_int_equal(a->part_count, 10);
    one.part_first = 3;
    one.part_count = 2;
    a = ask(l, one);
    assert_int_equal(a->part_count, 2);
    assert_int_equal(a->parts[0].len, 100000);
    assert_int_equal(a->parts[0].ptr[0], 3);
    assert_int_equal(a->parts[1].ptr[4], 6);
    one.part_first = 99;
    assert_int_equal(ask(l, one)->part_count, 0);
    test_free(body);
}

static void nothing_is_told_that_a_crash_could_undo(void **state) {
    struct lab *l = *state;
    put_many(l, 1, 3);
    l->durable_lsn = 4;
    put_one(l, 5, 5, "succeeded");
    l->h->ops->reach(l->h, 5);
    for (uint32_t i = 0; i < 3; i++) turn(l);
    assert_int_equal(stats_of(l).lsn, 3);
    assert_int_equal(l->h->ops->room(l->h), 0); /* so it need not wait for more and more */
    l->durable_lsn = 5;
    until_durable(l, 5);
    assert_true(l->h->ops->room(l->h) > 0);
    l->durable_lsn = 6;
    put_one(l, 7, 7, "succeeded");
    l->h->ops->reach(l->h, 7);
    lab_close(l);
    lab_open(l);
    assert_int_equal(stats_of(l).lsn, 5);
}

/* ---- leaving ---- */

static void old_ones_leave_and_then_the_oldest_while_it_is_too_large(void **state) {
    struct lab *l = *state;
    char path[400];
    struct hput p;
    struct why why;
    uint32_t removed = 0;
    uint64_t flows = 0, bytes = 0;
    bool more = false;
    put_many(l, 1, 3000);
    lab_close(l);
    path_of(l, path);
    assert_int_equal(hput_open(&p, path, &why), ERR_OK);
    assert_int_equal(hput_trim(&p, 1000, 0, &removed, &more, &why), ERR_OK); /* finished at 10 i + 5 */
    assert_int_equal(removed, 99);
    assert_false(more);
    assert_int_equal(hdb_size(&p.db, &flows, &bytes, &why), ERR_OK);
    assert_int_equal(flows, 2901);
    uint64_t goal = bytes / 2;
    do {
        assert_int_equal(hput_trim(&p, 1000, goal, &removed, &more, &why), ERR_OK);
    } while (more);
    assert_int_equal(hdb_size(&p.db, &flows, &bytes, &why), ERR_OK);
    assert_true(bytes <= goal && flows > 500 && flows < 2500);
    hput_close(&p);
    lab_open(l);
    const struct history_answer *a = ask(l, (struct history_query){.most = 1});
    assert_int_equal(a->found[0].flow, 3000); /* the newest is there */
    assert_int_equal(ask(l, (struct history_query){.before = 100, .most = 10})->count, 0);
    assert_int_equal(ask(l, (struct history_query){.before = 100, .most = 10, .text = SLICE("extract")})->count, 0);
}

/* ---- no room ---- */

static void what_found_no_room_is_written_when_there_is(void **state) {
    struct lab *l = *state;
    char path[400], text[3000];
    struct hput p;
    struct hload load;
    struct why why;
    uint64_t flows = 0, bytes = 0;
    lab_close(l);
    path_of(l, path);
    hload_init(&load);
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * i * 7919 >> 3); /* does not pack well */
    for (uint64_t i = 1; i <= 300; i++) {
        memcpy(text, &i, sizeof i);
        hload_part(&load, &(struct history_part){i, i, 0, slice_of(text, sizeof text)});
        hload_row(&load,
                  &(struct history_row){.flow = i, .lsn = i, .state = SLICE("failed"), .head = slice_of(text, 2000)});
    }
    hload_reach(&load, 300);
    assert_int_equal(hput_open(&p, path, &why), ERR_OK);
    assert_int_equal(hdb_run(&p.db, "PRAGMA max_page_count = 40", &why), ERR_OK);
    assert_int_equal(hload_write(&load, &p, &why), ERR_NO_SPACE);
    assert_int_equal(hdb_size(&p.db, &flows, &bytes, &why), ERR_OK);
    assert_int_equal(flows, 0); /* nothing half done */
    assert_int_equal(hdb_run(&p.db, "PRAGMA max_page_count = 1000000", &why), ERR_OK);
    assert_int_equal(hload_write(&load, &p, &why), ERR_OK);
    hput_close(&p);
    hload_fini(&load);
    lab_open(l);
    assert_int_equal(stats_of(l).lsn, 300);
    assert_int_equal(stats_of(l).flows, 300);
    assert_int_equal(count_all(l, (struct history_query){0}), 300);
}

/* ---- damage ---- */

static void overwrite(const char *path, long offset, size_t len) {
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, offset, SEEK_SET), 0);
    for (size_t i = 0; i < len; i++) assert_int_equal(fputc(0x5a, f), 0x5a);
    fclose(f);
}

static void a_file_that_is_none_is_set_aside_and_begun_anew(void **state) {
    struct lab *l = *state;
    char path[400], aside[500];
    put_many(l, 1, 50);
    lab_close(l);
    path_of(l, path);
    overwrite(path, 0, 200);
    lab_open(l);
    assert_int_equal(stats_of(l).lsn, 0);
    assert_int_equal(stats_of(l).state, HISTORY_EMPTY);
    turn(l);
    assert_non_null(strstr(l->notes, "set aside as"));
    snprintf(aside, sizeof aside, "%s.bad-5", path);
    assert_int_equal(access(aside, R_OK), 0);
    put_many(l, 1, 50);
    assert_int_equal(count_all(l, (struct history_query){0}), 50);
}

static void damage_inside_is_found_by_who_meets_it(void **state) {
    struct lab *l = *state;
    char path[400];
    put_many(l, 1, 3000);
    lab_close(l);
    path_of(l, path);
    overwrite(path, 200000, 800000);
    lab_open(l);
    for (uint64_t before = 3001; before > 100 && strstr(l->notes, "set aside as") == NULL; before -= 100) {
        const struct history_answer *a = ask(l, (struct history_query){.before = before, .most = 100});
        if (a->err != ERR_OK && a->err != ERR_CORRUPT && a->err != ERR_BUSY) fail_msg("%s", a->why.text);
        if (a->err != ERR_OK) turn(l);
    }
    for (uint32_t i = 0; i < 10 && strstr(l->notes, "set aside as") == NULL; i++) turn(l);
    assert_true(stats_of(l).lives > 1); /* the owner starts over */
    assert_int_equal(stats_of(l).lsn, 0);
    put_many(l, 1, 50);
    assert_int_equal(count_all(l, (struct history_query){0}), 50);
}

static void one_that_lost_rows_keeps_the_others_and_is_not_whole(void **state) {
    struct lab *l = *state;
    put_many(l, 1, 3);
    uint64_t lives = stats_of(l).lives;
    l->h->ops->doubt(l->h);
    put_many(l, 4, 4); /* the position moves on, and the doubt with it */
    lab_close(l);
    lab_open(l);
    assert_int_equal(stats_of(l).state, HISTORY_EMPTY);
    assert_int_equal(stats_of(l).lives, lives);
    assert_int_equal(count_all(l, (struct history_query){0}), 4);
}

static void a_start_with_a_clock_ahead_does_not_empty_it(void **state) {
    struct lab *l = *state;
    put_many(l, 1, 3);
    lab_close(l);
    l->options.days = 30;
    l->wall_ms = 1000000 + 3000 * INT64_C(86400000);
    lab_open(l);
    for (uint32_t i = 0; i < 3; i++) turn(l);
    put_many(l, 4, 4);
    assert_int_equal(count_all(l, (struct history_query){0}), 4);
    lab_close(l);
    lab_open(l); /* nor the next one */
    for (uint32_t i = 0; i < 3; i++) turn(l);
    assert_int_equal(count_all(l, (struct history_query){0}), 4);
}

static void files_of_the_history_are_for_their_owner_alone(void **state) {
    struct lab *l = *state;
    static const char *const ends[] = {"", "-wal", "-shm"};
    char path[400], one[420];
    struct stat st;
    put_many(l, 1, 3);
    path_of(l, path);
    for (size_t i = 0; i < 3; i++) {
        snprintf(one, sizeof one, "%s%s", path, ends[i]);
        assert_int_equal(stat(one, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
}

static void a_file_of_a_later_program_stays_as_it_is(void **state) {
    struct lab *l = *state;
    char path[400];
    struct hdb d;
    struct why why;
    lab_close(l);
    path_of(l, path);
    assert_int_equal(hdb_open(&d, path, HDB_WRITE, &why), ERR_OK);
    assert_int_equal(hdb_run(&d, "PRAGMA user_version = 99", &why), ERR_OK);
    hdb_close(&d);
    assert_int_equal(hstore_open(&l->options, &l->h, &why), ERR_UNSUPPORTED);
    assert_non_null(strstr(why.text, "schema 99"));
    l->h = NULL;
    assert_int_equal(access(path, R_OK), 0);
}

/* ---- making it anew ---- */

static enum err old_flows(void *ctx, struct history_sink *to, struct why *why) {
    uint64_t *count = ctx;
    enum err e = ERR_OK;
    for (uint64_t i = 1; e == ERR_OK && i <= 5000; i++) {
        char head[200];
        memset(head, 'h', sizeof head);
        e = to->put_part(to, &(struct history_part){i, 3, 0, slice_of(head, sizeof head)}, why);
        if (e == ERR_OK)
            e = to->put_row(to,
                            &(struct history_row){.flow = i,
                                                  .lsn = 3,
                                                  .created_ms = (int64_t)i,
                                                  .tenant = SLICE("default"),
                                                  .state = SLICE("succeeded"),
                                                  .head = slice_of(head, sizeof head)},
                            why);
        *count = i;
    }
    return e;
}

static void old_flows_are_made_again_while_new_ones_come(void **state) {
    struct lab *l = *state;
    uint64_t count = 0;
    assert_int_equal(stats_of(l).state, HISTORY_EMPTY);
    l->h->ops->rebuild(l->h, old_flows, &count);
    assert_int_equal(stats_of(l).state, HISTORY_REBUILDING);
    put_many(l, 5001, 5100);
    for (uint32_t i = 0; i < 1000 && stats_of(l).state != HISTORY_WHOLE; i++) turn(l);
    assert_int_equal(stats_of(l).state, HISTORY_WHOLE);
    assert_non_null(strstr(l->notes, "5000 flows"));
    assert_int_equal(stats_of(l).flows, 5100);
    assert_int_equal(count_all(l, (struct history_query){0}), 5100);
    lab_close(l);
    lab_open(l);
    assert_int_equal(stats_of(l).state, HISTORY_WHOLE);
}

static void closing_does_not_wait_for_old_flows(void **state) {
    struct lab *l = *state;
    uint64_t count = 0;
    l->h->ops->rebuild(l->h, old_flows, &count);
    lab_close(l);
    lab_open(l);
    if (count < 5000) assert_int_equal(stats_of(l).state, HISTORY_EMPTY); /* so it is done again */
}

int main(void) {
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_late_word_is_heard_once),
        TEST(what_was_put_is_there_after_closing),
        TEST(a_later_row_replaces_an_earlier_one_and_no_other),
        TEST(pages_have_each_flow_once_though_others_come),
        TEST(every_filter_finds_what_it_should),
        TEST(a_large_flow_comes_in_parts),
        TEST(nothing_is_told_that_a_crash_could_undo),
        TEST(one_that_lost_rows_keeps_the_others_and_is_not_whole),
        TEST(a_start_with_a_clock_ahead_does_not_empty_it),
        TEST(files_of_the_history_are_for_their_owner_alone),
        TEST(old_ones_leave_and_then_the_oldest_while_it_is_too_large),
        TEST(what_found_no_room_is_written_when_there_is),
        TEST(a_file_that_is_none_is_set_aside_and_begun_anew),
        TEST(damage_inside_is_found_by_who_meets_it),
        TEST(a_file_of_a_later_program_stays_as_it_is),
        TEST(old_flows_are_made_again_while_new_ones_come),
        TEST(closing_does_not_wait_for_old_flows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
