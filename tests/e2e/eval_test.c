/* eval_test.c: conditions, items and templates through the whole program: what is filled in where, what a person is
 * shown before it runs, what values can do to a shell (nothing), what fails and how that is told, and that a killed
 * server goes on where it was. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realcli.h"

static struct realcli *const r = &realcli_group;

static char id[64];

static void submit(const char *text, const char *flags) {
    snprintf(id, sizeof id, "%s", realcli_submit(r, text, flags));
}

/* `verb` of a job of the flow. */
static const char *of(const char *verb, const char *job) {
    char args[128];
    snprintf(args, sizeof args, "%s %s%s%s", verb, id, job[0] != 0 ? "/" : "", job);
    return realcli_ok(r, args, NULL).out;
}

static void ends(const char *text, const char *flags, int exit_code) {
    char args[128];
    submit(text, flags);
    snprintf(args, sizeof args, "wait -q %s", id);
    struct ran ran = realcli_run(r, args, NULL, NULL);
    if (ran.exit_code != exit_code) fail_msg("exit %d: %s%s%s", ran.exit_code, ran.out, ran.err, of("show", ""));
}

static void refused(const char *text, const char *flags, const char *said) {
    char args[256];
    snprintf(args, sizeof args, "submit %%s %s", flags);
    struct ran ran = realcli_run(r, args, realcli_file(r, "flow.yaml", text), NULL);
    assert_int_equal(ran.exit_code, 2);
    assert_has(ran.err, said);
}

/* ---- templates ---- */

static void templates_stand_everywhere(void **state) {
    (void)state;
    ends("name: tpl\n"
         "labels: {team: blue}\n"
         "jobs:\n"
         "  a: echo '{\"n\":42,\"s\":\"it is; $(fine)\",\"l\":[1,{\"x\":\"y z\"}]}' > \"$REEVE_OUTPUT\"\n"
         "  argv: {needs: a, run: [printf, '%s|%s|%s', '${jobs.a.outputs.s}', '${jobs.a.outputs.l[1].x}', "
         "'${= jobs.a.outputs.n + 1}']}\n"
         "  env: {needs: a, env: {S: '${jobs.a.outputs.s}', L: '${jobs.a.outputs.l}'}, run: 'echo \"$S $L\"'}\n"
         "  in: {needs: a, stdin: 'say ${jobs.a.outputs.s}', run: cat}\n"
         "  dir: {needs: a, workdir: '/${= \"tmp\"}', env: {N: '${jobs.a.state}'}, run: 'pwd; echo $N'}\n"
         "  shell: {needs: a, run: 'x=1; echo ${jobs.a.outputs.n} ${x} $${item} \"$${index}\" ${flow.name} "
         "${flow.labels.team}'}\n"
         "  script: {needs: a, script: {name: s.sh, text: 'echo $1 ${HOME:+home}', args: ['${jobs.a.outputs.n}']}}\n",
         "", 0);
    assert_string_equal(of("logs", "argv"), "it is; $(fine)|y z|43");
    assert_string_equal(of("logs", "env"), "it is; $(fine) [1,{\"x\":\"y z\"}]\n");
    assert_string_equal(of("logs", "in"), "say it is; $(fine)");
    assert_string_equal(of("logs", "dir"), "/tmp\nsucceeded\n");
    assert_string_equal(of("logs", "script"), "42 home\n");
    assert_has(of("show", "shell"), "echo 42 ${x} ${item} \"${index}\" tpl blue");
}

/* Whatever a value says, a shell never reads it as a part of its program. */
static void values_are_no_programs(void **state) {
    (void)state;
    refused("params: {who: me}\njobs:\n  a: {run: 'echo hello ${params.who}'}\n", "-p who=$(touch${IFS}x)",
            "flow.yaml:3:12: ${params.who} contains characters that a shell could read as commands");
    refused("params: {who: 'a b'}\njobs:\n  a: {run: [bash, -ec, 'echo ${params.who}']}\n", "", "pass it in `env`");
    ends("params: {who: \"; echo pwned\"}\njobs:\n  a: {env: {WHO: '${params.who}'}, run: 'echo \"hello $WHO\"'}\n", "",
         0);
    assert_string_equal(of("logs", "a"), "hello ; echo pwned\n");
    ends("jobs:\n"
         "  a: echo '\"`echo pwned`\"' > \"$REEVE_OUTPUT\"\n"
         "  b: {needs: a, run: 'echo ${jobs.a.outputs}', retries: 0}\n"
         "  c: {foreach: ['x', '$(echo pwned)'], run: 'echo ${item}', retries: 0}\n",
         "", 1);
    assert_has(of("show", "b"), "pass it in `env`");
    assert_has(of("why", "b"), "pass it in `env`");
    assert_string_equal(of("logs", "c[0]"), "x\n");
    assert_has(of("show", "c[1]"), "pass it in `env`");
    /* A value that looks like a template is a value. */
    ends("jobs:\n"
         "  a: echo '\"$${jobs.a.state} $${item} $${x}\"' > \"$REEVE_OUTPUT\"\n"
         "  b: {needs: a, foreach: [1], env: {V: '${jobs.a.outputs}', I: '${item}'}, run: 'echo \"$V $I\"'}\n",
         "", 0);
    assert_string_equal(of("logs", "b[0]"), "${jobs.a.state} ${item} $${x} 1\n");
}

/* The person sees what will run, and the hash is of that. */
static void approvals_are_about_what_was_filled_in(void **state) {
    (void)state;
    submit("jobs:\n"
           "  a: echo '{\"v\":\"1.2.3\"}' > \"$REEVE_OUTPUT\"\n"
           "  b: {needs: a, approval: 'Ship ${jobs.a.outputs.v}?', run: 'echo ship ${jobs.a.outputs.v}'}\n"
           "  g: {needs: a, gate: 'Announce ${jobs.a.outputs.v}?'}\n",
           "");
    (void)of("wait -q", "a");
    const char *asked = "";
    for (int i = 0; i < 200 && strstr(asked, "Ship") == NULL; i++) asked = realcli_ok(r, "approve", NULL).out;
    assert_has(asked, "Ship 1.2.3?");
    assert_has(asked, "Announce 1.2.3?");
    struct ran shown = realcli_run(r, "approve --json", NULL, NULL);
    assert_has_not(shown.out, "${jobs");
    (void)of("approve --yes", "b");
    (void)of("approve --yes", "g");
    (void)of("wait -q", "");
    assert_string_equal(of("logs", "b"), "ship 1.2.3\n");
}

/* ---- conditions ---- */

static void conditions_decide(void **state) {
    (void)state;
    ends("params: {n: 5}\n"
         "jobs:\n"
         "  a: echo '{\"n\":4}' > \"$REEVE_OUTPUT\"\n"
         "  yes: {needs: a, when: jobs.a.outputs.n < params.n, run: 'true'}\n"
         "  no: {needs: a, when: jobs.a.outputs.n > params.n, run: 'true'}\n"
         "  after: {needs: no, run: 'true'}\n"
         "  first: {when: params.n == 5, noop: true}\n",
         "", 0);
    assert_has(of("show", "yes"), "succeeded");
    assert_has(of("show", "no"), "skipped");
    assert_has(of("why", "no"), "its `when` is false");
    assert_has(of("show", "after"), "skipped");
    assert_has(of("show", "first"), "succeeded");
}

static void what_cannot_be_evaluated_says_why(void **state) {
    (void)state;
    ends("jobs:\n"
         "  a: echo '{\"n\":4}' > \"$REEVE_OUTPUT\"\n"
         "  number: {needs: a, when: jobs.a.outputs.n, run: 'true'}\n"
         "  field: {needs: a, when: jobs.a.outputs.x.y, run: 'true'}\n"
         "  loop: {when: '(function() while true do end end)()', run: 'true'}\n"
         "  items: {needs: a, foreach: jobs.a.outputs.n .. 'x', run: 'true'}\n"
         "  many: {foreach: 1000001, run: 'true'}\n"
         "  path: {needs: a, run: 'echo ${jobs.a.outputs.m}'}\n"
         "  none: {needs: number, on_upstream: run, run: 'echo ${jobs.number.outputs}'}\n",
         "", 1);
    assert_has(of("show", "number"), "when: expected true or false, it gives number");
    assert_has(of("show", "field"), "attempt to index a nil value (field 'x')");
    assert_has(of("show", "loop"), "eval_steps_max");
    assert_has(of("show", "items"), "foreach: expected a list or a whole number, it gives string");
    assert_has(of("show", "many"), "expected 0 to 1000000");
    assert_has(of("show", "path"), "jobs.a.outputs has no `m`");
    assert_has(of("show", "none"), "job `number` has no outputs (state: failed)");
    assert_has(realcli_ok(r, "dead", NULL).out, "/loop");
}

/* ---- items ---- */

static void items_of_every_kind(void **state) {
    (void)state;
    ends("jobs:\n"
         "  a: echo '[{\"n\":\"x y\"}, 2, \"three\"]' > \"$REEVE_OUTPUT\"\n"
         "  m: {needs: a, foreach: jobs.a.outputs, run: 'echo \"$REEVE_ITEM_INDEX $REEVE_ITEM\"; "
         "echo $REEVE_ITEM_INDEX > \"$REEVE_OUTPUT\"'}\n"
         "  f: {foreach: [{a: 1}, {a: 2}], run: 'echo ${item.a} of ${index}'}\n"
         "  e: {foreach: 0, run: 'true'}\n"
         "  s: {needs: [m, e], stdin: '${jobs.m.outputs}', run: 'cat; echo \" $REEVE_INPUT_M\"'}\n",
         "", 0);
    assert_string_equal(of("logs", "m[0]"), "0 {\"n\":\"x y\"}\n");
    assert_string_equal(of("logs", "m[2]"), "2 three\n");
    assert_string_equal(of("logs", "f[1]"), "2 of 1\n");
    assert_has(of("show", "e"), "succeeded");
    assert_string_equal(of("logs", "s"), "[0,1,2] [0,1,2]\n");
}

/* What a job left is a blob when it is large; it is looked into all the same. */
static void large_outputs(void **state) {
    (void)state;
    ends(
        "jobs:\n"
        "  a: |\n"
        "    { printf '{\"l\": ['; seq -s, -f '\"a rather long name %05.0f\"' 5000; echo ']}'; } > \"$REEVE_OUTPUT\"\n"
        "  f: {needs: a, foreach: jobs.a.outputs.l, noop: true}\n"
        "  w: {needs: a, when: 'len(jobs.a.outputs.l) == 5000', env: {X: '${jobs.a.outputs.l[4999]}'}, run: echo $X}\n",
        "", 0);
    assert_has(of("show", "f[4999]"), "succeeded");
    assert_string_equal(of("logs", "w"), "a rather long name 05000\n");
}

/* More items than fit a small blob, and a child that is tried again gets its own item again. */
static void many_items(void **state) {
    (void)state;
    ends("jobs:\n"
         "  a: {foreach: \"map(range(3000), function(i) return {name = 'item number ' .. pad(i, 5), i = i} end)\", "
         "noop: true}\n"
         "  b: {foreach: 20000, noop: true}\n"
         "  c: {foreach: [x, y], retries: 1, backoff: 10ms, run: 'echo ${item}; test $REEVE_ATTEMPT -gt 1'}\n",
         "", 0);
    assert_has(of("show", "a[2999]"), "succeeded");
    assert_has(of("show", "b[19999]"), "succeeded");
    assert_string_equal(of("logs", "c[1]"), "y\n");
}

/* ---- at the door ---- */

static void bad_expressions_are_refused_with_their_place(void **state) {
    (void)state;
    refused("jobs:\n  a: {run: x, when: 'jobs.b.outputs >'}\n", "", "flow.yaml:2:21: when:1: unexpected symbol");
    refused("jobs:\n  b: x\n  a: {run: x, when: jobs.b.outputs}\n", "",
            "flow.yaml:3:21: it uses outputs of `b`: add that job to `needs`");
    refused("jobs:\n  a: {run: x, when: params.x}\n", "", "there is no parameter `x`");
    refused("jobs:\n  a: {run: 'x ${= 1 +}'}\n", "", "flow.yaml:2:12: ${=}:1: unexpected symbol");
    refused("jobs:\n  a: {run: x, foreach: 'jobs.c.outputs'}\n", "", "there is no job `c`");
}

/* ---- a killed server ---- */

static void a_killed_server_knows_its_items(void **state) {
    (void)state;
    char command[256], args[96];
    submit("jobs:\n"
           "  a: {foreach: 60, run: 'sleep 0.05; echo item ${item}; echo ${item} > \"$REEVE_OUTPUT\"'}\n"
           "  s: {needs: a, when: len(jobs.a.outputs) == 60, run: ['echo', '${= sum(jobs.a.outputs)}']}\n",
           "");
    (void)of("wait -q", "a[2]");
    snprintf(command, sizeof command, "kill -9 $(pgrep -o -P $(cat %s/up.pid))", r->data);
    assert_int_equal(system(command), 0);
    snprintf(args, sizeof args, "wait -q %s", id);
    struct ran ran = {.exit_code = 8};
    for (int i = 0; i < 2000 && ran.exit_code == 8; i++) ran = realcli_run(r, args, NULL, NULL);
    if (ran.exit_code != 0) fail_msg("exit %d: %s%s", ran.exit_code, ran.out, ran.err);
    assert_string_equal(of("logs", "a[59]"), "item 60\n");
    assert_string_equal(of("logs", "s"), "1830\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_stand_everywhere),
        cmocka_unit_test(values_are_no_programs),
        cmocka_unit_test(approvals_are_about_what_was_filled_in),
        cmocka_unit_test(conditions_decide),
        cmocka_unit_test(what_cannot_be_evaluated_says_why),
        cmocka_unit_test(items_of_every_kind),
        cmocka_unit_test(large_outputs),
        cmocka_unit_test(many_items),
        cmocka_unit_test(bad_expressions_are_refused_with_their_place),
        cmocka_unit_test(a_killed_server_knows_its_items),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
