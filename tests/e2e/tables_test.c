/* tables_test.c: tables in a terminal of 80 columns: no row is wider, whatever the names are; -o wide and pipes get
 * whole names. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "realcli.h"
#include "realtty.h"

#define LONG "a-name-that-is-much-longer-than-any-table-in-a-terminal-of-eighty-columns-has-room-for"

static struct realcli *const r = &realcli_group;

static int setup(void **state) {
    char flow[512];
    realcli_group_setup(state);
    snprintf(flow, sizeof flow, "name: " LONG "\njobs: {" LONG ": {run: exit 3, retries: 0}}");
    const char *id = realcli_submit(r, flow, "");
    (void)realcli_run(r, realcli_at("wait -q @", id), NULL, NULL);
    snprintf(flow, sizeof flow, "name: " LONG "\nschedule: {cron: '0 0 1 1 *'}\njobs: {a: echo}");
    (void)realcli_ok(r, "schedule add %s", realcli_file(r, "schedule.yaml", flow));
    (void)realcli_ok(r, "kv set " LONG " " LONG LONG, NULL);
    (void)realcli_ok(r, "kv set short text", NULL);
    (void)realcli_ok(r, "limit key " LONG " 3", NULL);
    (void)realcli_ok(r, "token new " LONG " --role admin --role operator --role approver", NULL);
    (void)realcli_ok(r, "blob put %s", realcli_file(r, LONG, "text"));
    (void)realcli_ok(r, "deploy %s -d --name a-service-with-a-name-that-is-also-rather-long",
                     realcli_file(r, "service.sh", "#!/bin/sh\nexec sleep 100\n"));
    return 0;
}

static void in_terminal(struct realtty *t, const char *args, int cols) {
    char place[96];
    snprintf(place, sizeof place, "REEVE_DATA=%s", r->data);
    realtty_start(t, NULL, args, 40, cols, place);
    if (realtty_ends(t) != 0) fail_msg("%s: %s", args, emulator_text(&t->screen));
}

static void table(const char *args, bool is_cut) {
    struct realtty t;
    in_terminal(&t, args, 80);
    uint32_t rows = 0, cut = 0;
    for (int row = 0; row < 40; row++) {
        const char *text = emulator_row(&t.screen, row);
        if (*text == 0) continue;
        rows++;
        cut += strstr(text, "…") != NULL;
    }
    struct ran ran = realcli_ok(r, args, NULL);
    uint32_t lines = 0;
    for (const char *at = ran.out; (at = strchr(at, '\n')) != NULL; at++) lines++;
    if (strcmp(args, "kv ls") == 0) lines++; /* the head is for people */
    if (rows != lines)
        fail_msg("%s: %u rows on the terminal for %u lines\n%s", args, rows, lines, emulator_text(&t.screen));
    if (is_cut != (cut > 0)) fail_msg("%s: %u cells were cut\n%s", args, cut, emulator_text(&t.screen));
    assert_null(strstr(ran.out, "…"));
}

static void no_table_wraps_at_80_columns(void **state) {
    (void)state;
    static const char *const cut[] = {"ls", "dead", "schedule ls", "kv ls", "limits", "token ls", "audit"};
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) table(cut[i], true);
    static const char *const others[] = {"workers", "services", "blob ls"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct ran ran = realcli_ok(r, others[i], NULL);
        size_t widest = 0;
        for (const char *at = ran.out; *at != 0; at += strcspn(at, "\n") + 1)
            if (strcspn(at, "\n") > widest) widest = strcspn(at, "\n");
        table(others[i], widest > 80);
    }
}

static void wide_cuts_nothing(void **state) {
    (void)state;
    struct realtty t;
    in_terminal(&t, "ls -o wide", 200);
    assert_true(emulator_find(&t.screen, LONG) >= 0);
    assert_has(realcli_ok(r, "ls", NULL).out, LONG);
}

/* The columns that are short stay whole. */
static void only_long_cells_are_cut(void **state) {
    (void)state;
    struct realtty t;
    in_terminal(&t, "kv ls", 80);
    assert_true(emulator_find(&t.screen, "short") >= 0);
    assert_true(emulator_find(&t.screen, "KEY") >= 0);
    assert_true(emulator_find(&t.screen, "VALUE") >= 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_table_wraps_at_80_columns),
        cmocka_unit_test(wide_cuts_nothing),
        cmocka_unit_test(only_long_cells_are_cut),
    };
    return cmocka_run_group_tests(tests, setup, realcli_group_teardown);
}
