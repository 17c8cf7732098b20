/* template_test.c: texts with ${…}: what is filled in and when, what is left alone, what is refused. */
#include "test.h"

#include "limit.h"
#include "runtext.h"

static struct limits limits;

static const struct scope_job parents[] = {
    {SLICE("extract"), SLICE("SUCCEEDED"),
     SLICE("{\"rows\": 42, \"file\": \"a b.csv\", \"list\": [1, {\"x\": \"\\u00e4\"}]}")},
    {SLICE("map-a"), SLICE("FAILED"), {NULL, 0}},
    {SLICE("evil"), SLICE("SUCCEEDED"), SLICE("\"${item} $${item} ${x}\"")},
};
static const struct scope scope = {.params = SLICE("{\"day\": \"2026-01-01\", \"cmd\": \"ls; rm\"}"),
                                   .flow = SLICE("{\"id\": \"f1a\"}"),
                                   .item = SLICE("{\"name\": \"ann\"}"),
                                   .index = 7,
                                   .jobs = parents,
                                   .job_count = 3};

static int setup(void **state) {
    (void)state;
    limits_default(&limits);
    return 0;
}

static void check(const char *text, enum scope_stage stage, bool is_last, enum template_into into, const char *gives) {
    struct template_fill how = {&scope, &limits, stage, is_last, into, NULL};
    struct why why = {{0}};
    struct buf out;
    buf_init(&out, 1 << 16);
    enum err e = template_render(slice_str(text), &how, &out, &why);
    if (gives[0] == '<') {
        if (e == ERR_OK || strstr(why.text, gives + 1) == NULL)
            fail_msg("%s: expected `%s`, got `%s`", text, gives, why.text);
    } else if (e != ERR_OK || !slice_eq(buf_slice(&out), slice_str(gives))) {
        fail_msg("%s: expected `%s`, got `%.*s` (%s)", text, gives, SLICE_FMT(buf_slice(&out)), why.text);
    }
    buf_fini(&out);
}

static void values_are_filled_in(void **state) {
    (void)state;
    check("n=${jobs.extract.outputs.rows}!", STAGE_CHILD, true, INTO_TEXT, "n=42!");
    check("${jobs.extract.outputs.file}", STAGE_CHILD, true, INTO_TEXT, "a b.csv");
    check("${jobs.extract.outputs.list}", STAGE_CHILD, true, INTO_TEXT, "[1, {\"x\": \"\\u00e4\"}]");
    check("${jobs.extract.outputs.list[1].x}", STAGE_CHILD, true, INTO_TEXT, "ä");
    check("${jobs[\"extract\"].outputs['rows']}", STAGE_CHILD, true, INTO_TEXT, "42");
    check("${jobs.map-a.state}", STAGE_CHILD, true, INTO_TEXT, "FAILED");
    check("${item.name}${index}${flow.id}${params.day}", STAGE_CHILD, true, INTO_TEXT, "ann7f1a2026-01-01");
    check("${item}", STAGE_CHILD, true, INTO_TEXT, "{\"name\": \"ann\"}");
    check("${= item.name:upper() .. ({a = '}'}).a }", STAGE_CHILD, true, INTO_TEXT, "ANN}");
    check("${=jobs.extract.outputs.rows * 2}", STAGE_CHILD, true, INTO_TEXT, "84");
}

/* What the templates of a job take together is bounded, not only each of them. */
static void templates_of_a_job_share_a_budget(void **state) {
    (void)state;
    static const char loop[] = "${= (function() local n = 0 while n < 9000 do n = n + 1 end return n end)()}";
    struct template_fill how = {.scope = &scope, .limits = &limits, .stage = STAGE_CHILD, .is_last = true};
    struct wire_arg args[40] = {{SLICE("echo")}};
    struct arena arena;
    struct why why = {{0}};
    for (uint32_t count = 2; count <= 40; count += 38) {
        arena_init(&arena, 4096, 1 << 20);
        for (uint32_t i = 1; i < count; i++) args[i].text = slice_str(loop);
        struct wire_run run = {.argv = {args, count}};
        enum err e = runtext_render(&run, &how, &arena, &why);
        assert_int_equal(e, count == 2 ? ERR_OK : ERR_LIMIT);
        arena_fini(&arena);
    }
    assert_non_null(strstr(why.text, "eval_steps_max"));
}

static void what_is_not_ours_stays(void **state) {
    (void)state;
    static const char *const same[] = {"",           "$",           "${",         "$x ${HOME} $$ $${HOME}",
                                       "${items}",   "${jobs}",     "${flow}",    "${index_of}",
                                       "${item:-3}", "${jobs_a.b}", "a $(x) ${}", "$${jobs}",
                                       "${#item}"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) check(same[i], STAGE_CHILD, true, INTO_TEXT, same[i]);
    check("$${item} $$${index} $${=1}", STAGE_CHILD, true, INTO_TEXT, "${item} $${index} ${=1}");
}

static void stages_come_one_after_the_other(void **state) {
    (void)state;
    const char *text = "${params.day} ${flow.id} ${item.name} $${item} ${=params.day .. index}";
    check(text, STAGE_SUBMIT, false, INTO_TEXT, "2026-01-01 ${flow.id} ${item.name} $${item} ${=params.day .. index}");
    check(text, STAGE_READY, false, INTO_TEXT, "2026-01-01 f1a ${item.name} $${item} ${=params.day .. index}");
    check(text, STAGE_CHILD, true, INTO_TEXT, "2026-01-01 f1a ann ${item} 2026-01-017");
    /* A value is never read as a template, not by a later stage either. */
    check("${jobs.evil.outputs}", STAGE_READY, true, INTO_TEXT, "${item} $${item} ${x}");
    check("${jobs.evil.outputs}", STAGE_READY, false, INTO_TEXT, "$${item} $$${item} ${x}");
    check("$${item} $$${item} ${x}", STAGE_CHILD, true, INTO_TEXT, "${item} $${item} ${x}");
}

static void programs_are_guarded(void **state) {
    (void)state;
    check("load --day ${params.day}", STAGE_SUBMIT, true, INTO_PROGRAM, "load --day 2026-01-01");
    check("cat ${jobs.extract.outputs.file}", STAGE_READY, true, INTO_PROGRAM, "<pass it in `env`");
    check("echo ${params.cmd}", STAGE_SUBMIT, true, INTO_PROGRAM,
          "<${params.cmd} contains characters that a shell could read");
    check("echo '${=\"a\" .. \"'\"}'", STAGE_SUBMIT, true, INTO_PROGRAM, "<pass it in `env`");
    check("${params.cmd}", STAGE_SUBMIT, true, INTO_PROGRAM, "ls; rm"); /* the author asked for a command */
    static const char bad[] = " \t\n'\"`$\\;&|<>(){}[]*?!#~^";
    struct template_part part = {.kind = PART_PATH, .whole = SLICE("${item}")};
    struct why why;
    for (size_t i = 0; i < sizeof bad; i++)
        assert_int_equal(template_guard(&part, slice_of(bad + i, 1), &why), ERR_INVALID);
    assert_int_equal(template_guard(&part, SLICE("aZ09_-.,:/@%+=\xc3\xa4"), &why), ERR_OK);
}

/* Commands as people write them, with a value that no shell should read. What is refused does not depend on the names
 * of programs: where the value is a part of an argument, some program may read it as code. */
static const struct {
    const char *argv[9];
    bool is_refused;
} commands[] = {
    {{"sh", "-c", "echo ${params.cmd}"}, true},
    {{"bash", "-lc", "echo '${params.cmd}'"}, true},
    {{"/usr/bin/env", "sh", "-c", "echo ${params.cmd}"}, true},
    {{"env", "-S", "sh -c 'echo ${params.cmd}'"}, true},
    {{"timeout", "5", "sh", "-c", "echo ${params.cmd}"}, true},
    {{"nice", "-n", "5", "sh", "-c", "echo ${params.cmd}"}, true},
    {{"nohup", "sh", "-c", "echo ${params.cmd}"}, true},
    {{"setsid", "sh", "-c", "echo ${params.cmd}"}, true},
    {{"stdbuf", "-oL", "sh", "-c", "echo ${params.cmd}"}, true},
    {{"busybox", "sh", "-c", "echo ${params.cmd}"}, true},
    {{"sudo", "-n", "sh", "-c", "echo ${params.cmd}"}, true},
    {{"xargs", "-I{}", "sh", "-c", "echo {} ${params.cmd}"}, true},
    {{"flock", "/tmp/lock", "-c", "echo ${params.cmd}"}, true},
    {{"find", ".", "-exec", "sh", "-c", "echo ${params.cmd}", ";"}, true},
    {{"script", "-c", "echo ${params.cmd}", "/dev/null"}, true},
    {{"script", "--command=echo ${params.cmd}", "/dev/null"}, true},
    {{"su", "nobody", "-c", "echo ${params.cmd}"}, true},
    {{"runuser", "-u", "nobody", "--", "sh", "-c", "echo ${params.cmd}"}, true},
    {{"awk", "BEGIN { print \"${params.cmd}\" }"}, true},
    {{"awk", "-v", "x=${params.cmd}", "BEGIN { system(x) }"}, true},
    {{"sed", "s/a/${params.cmd}/e"}, true},
    {{"make", "NAME=${params.cmd}"}, true},
    {{"git", "-c", "alias.x=!echo ${params.cmd}", "x"}, true},
    {{"strace", "-f", "sh", "-c", "echo ${params.cmd}"}, true},
    {{"docker", "run", "image", "sh", "-c", "echo ${params.cmd}"}, true},
    {{"python3", "-c", "print('${params.cmd}')"}, true},
    {{"perl", "-e", "print '${params.cmd}'"}, true},
    {{"node", "--eval=console.log('${params.cmd}')"}, true},
    {{"tar", "xf", "a.tar", "--to-command=cat ${params.cmd}"}, true},
    {{"rsync", "-e", "ssh -i ${params.cmd}", "a", "b:"}, true},
    {{"psql", "-c", "select '${params.cmd}'"}, true},
    {{"./tool-${params.cmd}"}, true},
    {{"ssh", "host", "cat", "${params.cmd}"}, true},
    {{"watch", "-n1", "ls", "${params.cmd}"}, true},
    {{"timeout", "5", "ssh", "host", "${params.cmd}"}, true},
    /* A value that is an argument stays one, whatever it says. */
    {{"echo", "${params.cmd}"}, false},
    {{"grep", "-e", "${params.cmd}", "file"}, false},
    {{"./tool", "--title", "${params.cmd}"}, false},
    {{"sh", "-c", "echo \"$1\"", "_", "${params.cmd}"}, false},
    {{"${params.cmd}", "${params.cmd}"}, false}, /* the author asked for a command */
    {{"sh", "-c", "${params.cmd}"}, false},
    /* A word is a word everywhere. */
    {{"timeout", "5", "sh", "-c", "load --day ${params.day}"}, false},
    {{"make", "DAY=${params.day}"}, false},
    {{"ssh", "host", "load", "${params.day}"}, false},
};

static void a_value_is_an_argument_or_a_word(void **state) {
    (void)state;
    struct template_fill how = {.scope = &scope, .limits = &limits, .stage = STAGE_CHILD, .is_last = true};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        struct wire_arg args[9];
        struct wire_step step = {.argv = {args, 0}};
        struct wire_run run = {.argv = {args, 0}}, external = {.submit = {&step, 1}}, script = {.argv = {args, 0}};
        struct arena arena;
        struct why why = {{0}};
        arena_init(&arena, 4096, 1 << 20);
        while (commands[i].argv[run.argv.count] != NULL) {
            args[run.argv.count].text = slice_str(commands[i].argv[run.argv.count]);
            run.argv.count++;
        }
        step.argv.count = script.argv.count = run.argv.count;
        script.script = SLICE("echo");
        enum err e = runtext_render(&run, &how, &arena, &why);
        if ((e != ERR_OK) != commands[i].is_refused)
            fail_msg("%s %s: %s", commands[i].argv[0], commands[i].argv[1], why.text);
        if (e != ERR_OK) assert_non_null(strstr(why.text, "`env`"));
        assert_int_equal(runtext_render(&external, &how, &arena, &why), e);
        assert_int_equal(runtext_render(&script, &how, &arena, &why), ERR_OK); /* arguments of a script are data */
        arena_fini(&arena);
    }
}

static void values_in_requests_stay_values(void **state) {
    (void)state;
    check("https://a.b/${jobs.extract.outputs.file}?x=${params.cmd}", STAGE_CHILD, true, INTO_URL,
          "https://a.b/a%20b.csv?x=ls%3B%20rm");
    check("${params.cmd}/x", STAGE_CHILD, true, INTO_URL,
          "ls; rm/x"); /* the address itself; whether it is one is seen later */
    check("Bearer ${jobs.extract.outputs.file}", STAGE_CHILD, true, INTO_HEADER, "Bearer a b.csv");
    check("${= 'a\\r\\nb: c'}", STAGE_CHILD, true, INTO_HEADER, "<control characters");
    check("${= 'a\\nb'}", STAGE_CHILD, true, INTO_URL, "<control characters");
    check("{\"a\": \"${= 'x\"y'}\"}", STAGE_CHILD, true, INTO_JSON, "{\"a\": \"x\\\"y\"}");
    /* None asks for a variable of the worker, whatever stands behind it. */
    check("${= '$'}{HOME} ${HOME}", STAGE_CHILD, true, INTO_BODY, "$${HOME} ${HOME}");
    check("${jobs.evil.outputs}", STAGE_READY, true, INTO_HEADER, "$${item} $$$${item} $${x}");
    check("${jobs.evil.outputs}", STAGE_READY, false, INTO_HEADER, "$$${item} $$$$${item} $${x}");
}

static void mistakes_are_told(void **state) {
    (void)state;
    check("${jobs.extract.outputs.rows", STAGE_CHILD, true, INTO_TEXT, "<without its `}`");
    check("${= {1}", STAGE_CHILD, true, INTO_TEXT, "<without its `}`");
    check("${item.\n}", STAGE_CHILD, true, INTO_TEXT, "<without its `}`");
    check("${item..x}", STAGE_CHILD, true, INTO_TEXT, "<expected a name behind the point");
    check("${item[x]}", STAGE_CHILD, true, INTO_TEXT, "<expected [a number]");
    check("${jobs.extract.outputs.cols}", STAGE_CHILD, true, INTO_TEXT,
          "<${jobs.extract.outputs.cols}: jobs.extract.outputs has no `cols`");
    check("${jobs.extract.outputs.list[2]}", STAGE_CHILD, true, INTO_TEXT, "<has no item [2]");
    check("${jobs.extract.outputs.rows.x}", STAGE_CHILD, true, INTO_TEXT, "<is a number, it has nothing inside");
    check("${jobs.extract.exit}", STAGE_CHILD, true, INTO_TEXT, "<jobs.extract has no `exit`");
    check("${jobs.map-a.outputs}", STAGE_CHILD, true, INTO_TEXT, "<has no outputs (state: FAILED)");
    check("${jobs.x.outputs}", STAGE_CHILD, true, INTO_TEXT, "<has no parent `x`");
    check("${jobs.x}", STAGE_CHILD, true, INTO_TEXT, "<expected jobs.NAME.outputs");
    check("${= 1 +}", STAGE_CHILD, true, INTO_TEXT, "<unexpected symbol");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_filled_in),
        cmocka_unit_test(what_is_not_ours_stays),
        cmocka_unit_test(templates_of_a_job_share_a_budget),
        cmocka_unit_test(stages_come_one_after_the_other),
        cmocka_unit_test(programs_are_guarded),
        cmocka_unit_test(a_value_is_an_argument_or_a_word),
        cmocka_unit_test(values_in_requests_stay_values),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
