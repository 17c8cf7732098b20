/* schedule_test.c: schedules by the command line, on a real server and worker: they fire on time, once, also when the
 * server is killed in between; they are paused, filled up, changed and refused. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "realcli.h"

#define WAIT_S 120

static struct realcli *const r = &realcli_group;

static const char *const tick = "name: tick\n"
                                "schedule: {every: 1s, catch_up: all, overlap: queue}\n"
                                "jobs:\n"
                                "  a: {noop: true}\n";

static void add(const char *text, const char *flags) {
    char args[160];
    snprintf(args, sizeof args, "schedule add %%s %s", flags);
    (void)realcli_ok(r, args, realcli_file(r, "flow.yaml", text));
}

/* A number of the schedule's JSON; 0 when it is left out. */
static long number_of(const char *name, const char *key) {
    char args[64], quoted[32];
    snprintf(args, sizeof args, "schedule next %s --json", name);
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    struct ran ran = realcli_run(r, args, NULL, NULL);
    const char *at = ran.exit_code == 0 ? strstr(ran.out, quoted) : NULL;
    return at == NULL ? 0 : strtol(at + strlen(quoted), NULL, 10);
}

/* The server may be away in between: what is asked then counts as 0. */
static void wait_fired(const char *name, long least) {
    time_t end = time(NULL) + WAIT_S;
    while (number_of(name, "fired") < least)
        if (time(NULL) > end) fail_msg("%s has not fired %ld times in %d s", name, least, WAIT_S);
}

/* Slots of the flows that the schedule made, from the log itself. */
static uint32_t slots_made(long *ret, uint32_t max) {
    struct ran ran = realcli_ok(r, "journal dump", NULL);
    char *save = NULL;
    uint32_t count = 0;
    for (char *line = strtok_r(ran.out, "\n", &save); line != NULL && count < max; line = strtok_r(NULL, "\n", &save)) {
        const char *slot = strstr(line, "\"slot_ms\":");
        if (slot == NULL || strstr(line, "\"kind\":\"submitted\"") == NULL) continue; /* one that waits is noted, too */
        ret[count++] = strtol(slot + strlen("\"slot_ms\":"), NULL, 10);
    }
    return count;
}

static void kill_server(void) {
    char command[128];
    snprintf(command, sizeof command, "pkill -9 -f 'serv[e] --data %s'", r->data);
    assert_int_equal(system(command), 0);
}

static void each_slot_fires_once_whatever_is_killed(void **state) {
    (void)state;
    static long slots[256];
    add(tick, "");
    for (long round = 1; round <= 3; round++) {
        wait_fired("tick", number_of("tick", "fired") + 2);
        kill_server();
        wait_fired("tick", 2 * round);
    }
    (void)realcli_ok(r, "schedule rm tick", NULL);
    uint32_t count = slots_made(slots, 256);
    assert_true(count >= 6);
    for (uint32_t i = 1; i < count; i++)
        assert_int_equal(slots[i], slots[i - 1] + 1000); /* none twice, none left out */
}

static void people_look_at_them(void **state) {
    (void)state;
    add("name: report\nschedule: '30 2 * * *'\njobs: {a: {noop: true}}\n", "--zone Europe/Lisbon");
    struct ran ran = realcli_ok(r, "schedule ls", NULL);
    assert_has(ran.out, "cron 30 2 * * *; zone Europe/Lisbon");
    ran = realcli_ok(r, "schedule next report -n 2", NULL);
    assert_has(ran.out, "T02:30:00"); /* with its offset, which summer changes */
    assert_int_equal(number_of("report", "fired"), 0);
    add("name: report\nschedule: '30 2 * * *'\njobs: {a: {noop: true}}\n", "--at 2099-01-01T00:00:00Z"); /* changed */
    assert_has(realcli_ok(r, "schedule next report", NULL).out, "2099-01-01");
    (void)realcli_ok(r, "schedule rm report", NULL);
    realcli_refused(r, "schedule next report", 5, "there is no schedule report");
}

static void pauses_and_backfills(void **state) {
    (void)state;
    add("name: job\njobs: {a: {noop: true}}\n", "--every 1h --overlap queue --paused");
    assert_has(realcli_ok(r, "schedule ls", NULL).out, "paused");
    (void)realcli_ok(r, "schedule resume job", NULL);
    (void)realcli_ok(r, "schedule backfill job --since 2026-01-01T00:00:00Z --until 2026-01-01T03:00:00Z", NULL);
    wait_fired("job", 3);
    (void)realcli_ok(r, "schedule pause job", NULL);
    realcli_refused(r, "schedule backfill job --since 2026-01-01T00:00:00Z --until 2027-01-01T00:00:00Z", 2,
                    "schedule_waiting_max");
    realcli_refused(r, "schedule backfill job --since 2026-01-01T00:00:00Z", 2, "--since and --until");
    (void)realcli_ok(r, "schedule rm job", NULL);
}

static const char *const dated =
    "name: dated\n"
    "schedule: {cron: '30 2 * * *', zone: Europe/Berlin}\n"
    "params: {day: '${= date(schedule.slot, \"-1d\")}'}\n"
    "jobs:\n"
    "  a: {run: 'echo ${params.day} ${schedule.slot} $REEVE_SLOT $REEVE_SCHEDULE'}\n"
    "  b: {needs: a, run: 'echo made by ${schedule.name}', when: params.day < schedule.date}\n";

/* The job, its templates and its environment know the slot, in the zone of the schedule. */
static void a_run_knows_its_slot(void **state) {
    (void)state;
    add(dated, "");
    struct ran ran = realcli_ok(r, "schedule run dated --slot 2026-07-01T02:30 --wait", NULL);
    char id[64], args[120];
    snprintf(id, sizeof id, "%.*s", (int)strcspn(ran.out, " \n"), ran.out);
    snprintf(args, sizeof args, "logs %s/a", id);
    assert_has(realcli_ok(r, args, NULL).out, "2026-06-30 2026-07-01T02:30:00+02:00 2026-07-01T02:30:00+02:00 dated\n");
    snprintf(args, sizeof args, "logs %s/b", id);
    assert_has(realcli_ok(r, args, NULL).out, "made by dated\n");
    snprintf(args, sizeof args, "show %s", id);
    assert_has(realcli_ok(r, args, NULL).out, "2026-07-01T02:30:00+02:00");
    ran = realcli_ok(r, "ls --schedule dated --json", NULL);
    assert_has(ran.out, "\"schedule\":\"dated\"");
    assert_has(ran.out, "\"slot\":\"2026-07-01T02:30:00+02:00\"");
    assert_null(strstr(realcli_ok(r, "ls --schedule other --json", NULL).out, id));
    ran = realcli_ok(r, "schedule show dated", NULL);
    assert_has(ran.out, "Europe/Berlin");
    assert_has(ran.out, id);
    assert_has(ran.out, "succeeded");
    assert_has(ran.out, "T02:30:00+0");
}

static void a_flow_of_a_slot_needs_one(void **state) {
    (void)state;
    const char *file = realcli_file(r, "flow.yaml", dated);
    char args[120];
    snprintf(args, sizeof args, "submit %s", file);
    realcli_refused(r, args, 2, "parameter `day` gets its value from the slot of a schedule: pass -p day=VALUE");
    snprintf(args, sizeof args, "submit %s -p day=2026-01-01", file);
    realcli_refused(r, args, 2, "`schedule` is known only in flows that a schedule makes");
    file =
        realcli_file(r, "flow.yaml", "name: x\nparams: {day: '${schedule.date}'}\njobs: {a: 'echo ${params.day}'}\n");
    snprintf(args, sizeof args, "submit %s -p day=2026-01-01 --wait", file);
    (void)realcli_ok(r, args, NULL);
}

static void runs_and_backfills_name_their_slots(void **state) {
    (void)state;
    add("name: filled\nschedule: {cron: '30 2 * * *', zone: Europe/Berlin}\njobs: {a: {noop: true}}\n", "");
    struct ran ran = realcli_ok(r, "schedule backfill filled --since 2026-03-28 --until 2026-03-31 --dry-run", NULL);
    assert_string_equal(ran.out, "2026-03-28T02:30:00+01:00\n2026-03-29T03:00:00+02:00\n2026-03-30T02:30:00+02:00\n");
    (void)realcli_ok(r, "schedule backfill filled --since 2026-03-28 --until 2026-03-31", NULL);
    wait_fired("filled", 3);
    assert_has(realcli_ok(r, "ls --schedule filled --json", NULL).out, "\"slot\":\"2026-03-29T03:00:00+02:00\"");
    realcli_refused(r, "schedule backfill filled --since yesterday --until 2026-03-31", 2,
                    "expected a date or time like 2026-11-01");
    realcli_refused(r, "schedule backfill filled --since 2026-03-31 --until 2026-03-28 --dry-run", 2,
                    "a later `until`");
    realcli_refused(r, "schedule run filled --slot 2099-01-01", 2, "the slot is still to come");
    realcli_refused(r, "schedule run filled --slot noon", 2, "slot: expected a date or time");
    realcli_refused(r, "schedule run nothing", 5, "there is no schedule nothing");
    realcli_refused(r, "schedule show nothing", 5, "there is no schedule nothing");
    add("name: slow\nschedule: {cron: '30 2 * * *'}\njobs: {a: {sleep: 1h}}\n", "");
    (void)realcli_ok(r, "schedule run slow", NULL);
    realcli_refused(r, "schedule run slow", 6, "is still running: wait for its end, or cancel it");
    (void)realcli_ok(r, "schedule rm slow", NULL);
    (void)realcli_ok(r, "schedule rm filled", NULL);
}

static void bad_ones_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *flags, *said;
        int exit_code;
    } cases[] = {
        {"name: x\njobs: {a: {noop: true}}\n", "", "has no `schedule`", 2},
        {"jobs: {a: {noop: true}}\n", "--every 1m", "needs a name", 2},
        {"name: x\njobs: {a: {noop: true}}\n", "--every 1m --at 2099-01-01", "one of `cron`, `every`, `at` and `on`",
         2},
        {"name: x\nschedule: {cron: '61 * * * *'}\njobs: {a: {noop: true}}\n", "", "flow.yaml:2:", 2},
        {"name: x\nschedule: {cron: '@daily', overlap: maybe}\njobs: {a: {noop: true}}\n", "", "skip, queue or replace",
         2},
        {"name: x\nschedule: {evry: 1m}\njobs: {a: {noop: true}}\n", "", "did you mean `every`", 2},
        {"name: x\njobs: {a: {noop: true}}\n", "--cron @daily --zone Mars/Olympus", "there is no time zone", 5},
        {"name: x\njobs: {a: {noop: true}}\n", "--at 2020-01-01T00:00:00Z", "has no slot left", 2},
        {"name: x\nkey: k\njobs: {a: {noop: true}}\n", "--every 1m", "idempotency key", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char args[160];
        snprintf(args, sizeof args, "schedule add %s %s", realcli_file(r, "flow.yaml", cases[i].text), cases[i].flags);
        realcli_refused(r, args, cases[i].exit_code, cases[i].said);
    }
    realcli_refused(r, "schedule pause nothing", 5, "there is no schedule nothing");
    assert_null(strstr(realcli_ok(r, "schedule ls --json", NULL).out, "\"x\""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_slot_fires_once_whatever_is_killed),
        cmocka_unit_test(people_look_at_them),
        cmocka_unit_test(pauses_and_backfills),
        cmocka_unit_test(a_run_knows_its_slot),
        cmocka_unit_test(a_flow_of_a_slot_needs_one),
        cmocka_unit_test(runs_and_backfills_name_their_slots),
        cmocka_unit_test(bad_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
