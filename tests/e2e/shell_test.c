/* shell_test.c: `reeve shell` in a real terminal, and with lines from a pipe. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"
#include "realtty.h"

static struct realcli *const r = &realcli_group;
static struct realtty tty;
static char history[128];

/* Row `row` is a prompt, with nothing typed behind it. */
static bool is_prompt(const struct realtty *t, int row) {
    const char *text = emulator_row(&t->screen, row);
    return strncmp(text, "reeve /tmp/", 11) == 0 && text[strlen(text) - 1] == '>';
}

static bool is_fresh(const struct realtty *t, const char *a, const char *b) {
    (void)a, (void)b;
    return is_prompt(t, 0) && emulator_row(&t->screen, 1)[0] == 0;
}

static void start(void) {
    char variables[160];
    snprintf(history, sizeof history, "%s/shell.history", r->data);
    snprintf(variables, sizeof variables, "REEVE_HISTORY=%s", history);
    realtty_start(&tty, r->data, "shell", 24, 100, variables);
    realtty_type(&tty, "\x0c");
    realtty_until(&tty, is_fresh, "", "", "no prompt");
}

/* The words came below the line that was typed; and, with `b`, the next prompt below them. */
static bool is_answered(const struct realtty *t, const char *a, const char *b) {
    int row = 1;
    while (row < t->screen.rows && strstr(emulator_row(&t->screen, row), a) == NULL) row++;
    if (b[0] == 0 || row == t->screen.rows) return row < t->screen.rows;
    while (row < t->screen.rows && !is_prompt(t, row)) row++;
    return row < t->screen.rows;
}

/* A line that goes on, and words that it brings. */
static void begin(const char *line, const char *words) {
    realtty_type(&tty, "\x0c"); /* Ctrl-L: an empty screen */
    realtty_until(&tty, is_fresh, "", "", "no prompt");
    realtty_type(&tty, line);
    realtty_type(&tty, "\r");
    realtty_until(&tty, is_answered, words, "", "never seen below the line");
}

/* A line, the words that it must bring, and the next prompt. */
static void say(const char *line, const char *words) {
    begin(line, words);
    realtty_until(&tty, is_answered, words, "prompt", "never seen below the line");
}

static void leave(int code) {
    realtty_type(&tty, "\x04");
    assert_int_equal(realtty_ends(&tty), code);
    assert_true(realtty_is_cooked(&tty));
}

static const char *read_history(void) {
    static char text[4096];
    FILE *f = fopen(history, "re");
    size_t len = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL) fclose(f);
    text[len] = 0;
    return text;
}

static void verbs_run_on_one_connection(void **state) {
    (void)state;
    start();
    say("run -- expr 40 + 2", "42");
    say("reeve version", "wire ");
    say("kv set colour 'deep red'", "version ");
    say("kv get colour", "deep red");
    say("stats --json", "\"connections\":2,"); /* the worker, and we */
    leave(0);
}

static void errors_do_not_end_it(void **state) {
    (void)state;
    start();
    say("nonsense", "there is no verb `nonsense`");
    realtty_sees(&tty, "[2]>");
    say("show f9zzz", "reeve show:");
    realtty_sees(&tty, "[5]>");
    say("ls --no-such", "there is no flag --no-such");
    say("kv set 'open", "missing closing quote");
    say("shell", "already in the shell");
    say("help wait", "describes them");
    say("journal verify --data /nonexistent", "reeve journal verify:"); /* a process of its own */
    say("wait f9zzz", "reeve wait:");
    leave(5);
}

static void editing_and_history(void **state) {
    (void)state;
    start();
    say("vrsion\x01\033[Ce", "wire "); /* Ctrl-A, right, and the missing letter */
    say("\033[A", "wire ");            /* the line before */
    say(" kv set hidden 1", "version ");
    say("run -e SECRET_TOKEN=abc -- expr 20 + 3", "23");
    say("kv get colour", "deep red");
    leave(0);
    assert_has(read_history(), "\nkv get colour\n");
    assert_has(read_history(), "version\n");
    assert_null(strstr(read_history(), "SECRET"));
    assert_null(strstr(read_history(), "hidden"));
    struct stat about;
    assert_int_equal(stat(history, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    start(); /* the next shell knows them */
    realtty_type(&tty, "\x12"
                       "colou"); /* Ctrl-R */
    realtty_sees(&tty, "(search `colou`) kv get colour");
    realtty_type(&tty, "\x03\x03");
    leave(0);
}

static void a_history_that_is_too_long_is_shortened(void **state) {
    (void)state;
    char path[160];
    snprintf(path, sizeof path, "%s/shell.history", r->data);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    for (int i = 0; i < 2500; i++) fprintf(f, "ls f%d\n", i);
    fclose(f);
    start();
    realtty_type(&tty, "\033[A");
    realtty_sees(&tty, "> ls f2499");
    realtty_type(&tty, "\x15");
    leave(0);
    f = fopen(path, "re");
    assert_non_null(f);
    int lines = 0, c;
    while ((c = fgetc(f)) != EOF) lines += c == '\n';
    fclose(f);
    assert_int_equal(lines, 1000);
}

static void tab_completes(void **state) {
    (void)state;
    char id[32], text[64];
    snprintf(id, sizeof id, "%s", realcli_submit(r, "name: named\njobs: {alpha: 'true', beta: 'true'}", ""));
    start();
    realtty_type(&tty, "comp\t");
    realtty_sees(&tty, "> compl"); /* complete, completion */
    realtty_type(&tty, "\t");
    realtty_sees(&tty, "print a completion script");
    realtty_type(&tty, "\x15"
                       "kv pub\t");
    realtty_sees(&tty, "> kv publish");
    realtty_type(&tty, "\x15logs --no\t");
    realtty_sees(&tty, "> logs --no-prefix");
    snprintf(text, sizeof text, "%s/alp\t", id);
    realtty_type(&tty, text);
    snprintf(text, sizeof text, "--no-prefix %s/alpha", id);
    realtty_sees(&tty, text);
    realtty_type(&tty, "\x15why f\t\t");
    realtty_sees(&tty, "named, ");
    realtty_type(&tty, "\x15"
                       "drain \t!");
    realtty_row_has(&tty, "> drain ", "-"); /* there is one worker: its name */
    realtty_type(&tty, "\x15submit /etc/hostn\t");
    realtty_sees(&tty, "submit /etc/hostname");
    realtty_type(&tty, "\x15");
    leave(0);
}

static void ctrl_c_ends_what_runs_and_not_the_shell(void **state) {
    (void)state;
    char id[32], line[64];
    snprintf(id, sizeof id, "%s", realcli_submit(r, "jobs: {long: 'echo begun; sleep 600', other: 'sleep 600'}", ""));
    start();
    snprintf(line, sizeof line, "logs -f %s", id);
    begin(line, "| begun");
    realtty_type(&tty, "\x03");
    realtty_sees(&tty, "reeve logs: interrupted");
    realtty_sees(&tty, "[130]>");
    snprintf(line, sizeof line, "graph -w %s", id);
    begin(line, "● long");
    realtty_type(&tty, "\x03");
    realtty_sees(&tty, "reeve graph: interrupted");
    assert_false(tty.screen.is_hidden);
    snprintf(line, sizeof line, "wait %s", id);
    begin(line, "0/2");
    realtty_type(&tty, "\x03");
    realtty_sees(&tty, "reeve wait: interrupted");
    begin("run -- sh -c 'echo mine; sleep 600'", "mine");
    realtty_type(&tty, "\x03");
    realtty_sees(&tty, "cancelling"); /* the first is for the job */
    realtty_sees(&tty, "[125]>");
    begin("top", "1 Flows"); /* a full screen inside, and back */
    realtty_type(&tty, "q");
    realtty_sees_not(&tty, "1 Flows");
    realtty_type(&tty, "half a line\x03");
    snprintf(line, sizeof line, "cancel %s", id);
    say(line, "cancelled");
    leave(0);
}

static void a_server_that_comes_back_is_used_again(void **state) {
    (void)state;
    static struct realserver s;
    realserver_make(&s);
    realserver_start(&s);
    realtty_start(&tty, s.data, "shell", 24, 100, "REEVE_HISTORY=/dev/null");
    say("kv set number 1", "version ");
    realserver_kill(&s);
    say("kv get number", "no server is running on");
    realserver_start(&s);
    say("kv incr number 41", "42");
    leave(0);
    assert_int_equal(realserver_stop(&s), 0);
    realserver_remove(&s);
}

static void lines_from_a_pipe(void **state) {
    (void)state;
    struct ran ran = realcli_run(r, "shell", NULL, "kv set piped 1 # a remark\n\nshow f9zzz\nkv get piped --json\n");
    assert_int_equal(ran.exit_code, 0);
    assert_has(ran.out, "\"value\"");
    assert_has(ran.err, "reeve show:");
    ran = realcli_run(r, "shell", NULL, "version\nshow f9zzz\nexit\nkv set never 1\n");
    assert_int_equal(ran.exit_code, 5);
    assert_int_equal(realcli_run(r, "kv get never", NULL, NULL).exit_code, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verbs_run_on_one_connection),
        cmocka_unit_test(errors_do_not_end_it),
        cmocka_unit_test(editing_and_history),
        cmocka_unit_test(a_history_that_is_too_long_is_shortened),
        cmocka_unit_test(tab_completes),
        cmocka_unit_test(ctrl_c_ends_what_runs_and_not_the_shell),
        cmocka_unit_test(a_server_that_comes_back_is_used_again),
        cmocka_unit_test(lines_from_a_pipe),
    };
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
