/* titan_job_test.c: jobs as Titan's clients write them, without a server. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "titan_flow.h"
#include "wire_run.h"

static struct arena arena;
static struct why why;

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 65536, (size_t)1 << 28);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_fini(&arena);
    return 0;
}

static void is(struct slice got, const char *wanted) {
    if (!slice_eq(got, slice_str(wanted))) fail_msg("got `%.*s`, wanted `%s`", SLICE_FMT(got), wanted);
}

static struct titan_job dag_job(const char *text) {
    struct titan_jobs jobs = {0};
    enum err e = titan_dag_read(slice_str(text), &arena, &jobs, &why);
    if (e != ERR_OK) fail_msg("%s: %s", text, why.text);
    assert_int_equal(jobs.count, 1);
    return jobs.at[0];
}

/* ---- one job of a DAG, in all of its forms ---- */

static const struct {
    const char *text;
    enum titan_kind kind;
    const char *file, *entry, *args, *base64, *requirement;
    uint32_t port;
    int64_t priority, delay_ms;
    bool affinity;
} forms[] = {
    {"a|RUN_PAYLOAD|f.py|x y|QQ==|GENERAL|3|7|[]", TITAN_KIND_SCRIPT, "f.py", "", "x y", "QQ==", "GENERAL", 0, 3, 7, 0},
    {"a|RUN_PAYLOAD|f.py|x|QQ==|GPU|-1|0|[]|AFFINITY", TITAN_KIND_SCRIPT, "f.py", "", "x", "QQ==", "GPU", 0, -1, 0, 1},
    {"a|RUN_PAYLOAD|f.py||QQ==|1|0|[] | STICKY ", TITAN_KIND_SCRIPT, "f.py", "", "", "QQ==", "GENERAL", 0, 1, 0, 1},
    {"a|GPU|RUN_PAYLOAD|f.py|x|QQ==|1|0|[]", TITAN_KIND_SCRIPT, "f.py", "", "x", "QQ==", "GPU", 0, 1, 0, 0},
    {"a|GPU|RUN_PAYLOAD|f.py|QQ==|1|0|[]", TITAN_KIND_SCRIPT, "f.py", "", "", "QQ==", "GPU", 0, 1, 0, 0},
    {"a|GPU|RUN_PAYLOAD|f.py|x|QQ==|GENERAL|1|0|[]", TITAN_KIND_SCRIPT, "f.py", "", "x", "QQ==", "GPU", 0, 1, 0, 0},
    {"a|GPU|RUN_PAYLOAD|f.py|x|QQ==|TPU|1|0|[]", TITAN_KIND_SCRIPT, "f.py", "", "x", "QQ==", "TPU", 0, 1, 0, 0},
    {"a|RUN_PAYLOAD|f.py|QQ==|HIGH_MEM|1|0|[]", TITAN_KIND_SCRIPT, "f.py", "", "", "QQ==", "HIGH_MEM", 0, 1, 0, 0},
    {"a|RUN_PAYLOAD|f.py|two words|QQ==|1|0|[]", TITAN_KIND_SCRIPT, "f.py", "", "two words", "QQ==", "GENERAL", 0, 1, 0,
     0},
    {" a | RUN_PAYLOAD | d/f.py | [x] | QQ== | GENERAL | 1 | 0 | [ ]", TITAN_KIND_SCRIPT, "f.py", "", "[x]",
     "QQ==", "GENERAL", 0, 1, 0, 0},
    {"a|DEPLOY_PAYLOAD|s.py|QQ==|8095|GENERAL|1|0|[]", TITAN_KIND_SERVICE, "s.py", "", "", "QQ==", "GENERAL", 8095, 1,
     0, 0},
    {"a|RUN_ARCHIVE|p.zip/app/main.py|x y|GPU|1|0|[]", TITAN_KIND_ARCHIVE, "p.zip", "app/main.py", "x y", "", "GPU", 0,
     1, 0, 0},
    {"a|RUN_ARCHIVE|p.zip/main.py||GENERAL|1|0|[]", TITAN_KIND_ARCHIVE, "p.zip", "main.py", "", "", "GENERAL", 0, 1, 0,
     0},
    {"a|START_ARCHIVE_SERVICE|p.zip/s.py|x|81|GPU|1|0|[]", TITAN_KIND_ARCHIVE_SERVICE, "p.zip", "s.py", "x", "", "GPU",
     81, 1, 0, 0},
    {"a|MY_TYPE|some|payload|1|0|[]", TITAN_KIND_HANDLER, "MY_TYPE", "", "some|payload", "", "GENERAL", 0, 1, 0, 0},
};

static void every_form_is_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct titan_job j = dag_job(forms[i].text);
        is(j.id, "DAG-a");
        assert_int_equal(j.kind, forms[i].kind);
        is(j.file, forms[i].file);
        is(j.entry, forms[i].entry);
        is(j.args, forms[i].args);
        is(j.base64, forms[i].base64);
        is(j.requirement, forms[i].requirement);
        assert_int_equal(j.port, forms[i].port);
        assert_int_equal(j.priority, forms[i].priority);
        assert_int_equal(j.delay_ms, forms[i].delay_ms);
        assert_int_equal(j.affinity, forms[i].affinity);
    }
}

static void parents_are_found_in_the_payload_or_elsewhere(void **state) {
    (void)state;
    struct titan_jobs jobs = {0};
    const char *text =
        "a|RUN_PAYLOAD|f||QQ|1|0|[] ;; b|RUN_PAYLOAD|f||QQ|1|0|[ a , DAG-x,,y ]; a|RUN_PAYLOAD|f||QQ|1|0|[]";
    assert_int_equal(titan_dag_read(slice_str(text), &arena, &jobs, &why), ERR_OK);
    assert_int_equal(jobs.count, 3);
    assert_int_equal(jobs.at[1].parent_count, 3);
    is(jobs.at[1].parents[0].id, "DAG-a");
    assert_int_equal(jobs.at[1].parents[0].at, 2); /* the last of that id */
    is(jobs.at[1].parents[1].id, "DAG-x");
    assert_int_equal(jobs.at[1].parents[1].at, TITAN_ELSEWHERE);
    is(jobs.at[1].parents[2].id, "DAG-y");
}

static void refused(const char *text, enum err wanted, const char *words) {
    struct titan_jobs jobs = {0};
    assert_int_equal(titan_dag_read(slice_str(text), &arena, &jobs, &why), wanted);
    if (strstr(why.text, words) == NULL) fail_msg("%s: %s", text, why.text);
    assert_int_equal(jobs.count, 0);
}

static void what_is_no_dag_is_refused_with_a_reason(void **state) {
    (void)state;
    refused("", ERR_INVALID, "no job in it");
    refused(" ; ;;", ERR_INVALID, "no job in it");
    refused("a", ERR_INVALID, "the list of its parents");
    refused("a|RUN_PAYLOAD|f||QQ|1|0", ERR_INVALID, "the list of its parents");
    refused("[]", ERR_INVALID, "delay");
    refused("a|RUN_PAYLOAD|f||QQ|1|x|[]", ERR_INVALID, "delay");
    refused("a|RUN_PAYLOAD|f||QQ|x|0|[]", ERR_INVALID, "priority");
    refused("1|0|[]", ERR_INVALID, "priority");
    refused("a|1|0|[]", ERR_INVALID, "no id, or nothing behind it");
    refused("|RUN_PAYLOAD|f||QQ|1|0|[]", ERR_INVALID, "no id");
    refused("a||1|0|[]", ERR_INVALID, "nothing that could be run");
    refused("a|RUN_PAYLOAD|||QQ|1|0|[]", ERR_INVALID, "the name of its file");
    refused("a|RUN_PAYLOAD|..||QQ|1|0|[]", ERR_INVALID, "the name of its file");
    refused("a|RUN_PAYLOAD|f|a|b|c|d|1|0|[]", ERR_INVALID, "more fields");
    refused("a|RUN_PAYLOAD|f|x;y|QQ|1|0|[]", ERR_INVALID, "the list of its parents"); /* a `;` cannot be part of one */
    refused("a|RUN_PAYLOAD|f||QQ|1|0|[a]", ERR_CYCLE, "circle");
    refused("a|RUN_PAYLOAD|f||QQ|1|0|[b];b|RUN_PAYLOAD|f||QQ|1|0|[c];c|RUN_PAYLOAD|f||QQ|1|0|[a]", ERR_CYCLE, "circle");
}

/* ---- alone ---- */

static void a_job_alone(void **state) {
    (void)state;
    static const struct {
        const char *text, *id, *file, *args, *base64;
        int64_t priority, delay_ms;
        enum titan_kind kind;
    } cases[] = {
        {"j|RUN_PAYLOAD|f.py|x|QQ==|5|100", "j", "f.py", "x", "QQ==", 5, 100, TITAN_KIND_SCRIPT},
        {"j|RUN_PAYLOAD|f.py|x|QQ==|100", "j", "f.py", "x", "QQ==", 1, 100, TITAN_KIND_SCRIPT},
        {"RUN_PAYLOAD|f.py|QQ==", "", "f.py", "", "QQ==", 1, 0, TITAN_KIND_SCRIPT},
        {"j|RUN_PAYLOAD|f.py|QQ==|GENERAL|2|0", "j", "f.py", "", "QQ==", 2, 0, TITAN_KIND_SCRIPT},
        {"skill|data|1|0", "", "skill", "data", "", 1, 0, TITAN_KIND_HANDLER},
        {"j|MY_TYPE|da|ta|3|4", "j", "MY_TYPE", "da|ta", "", 3, 4, TITAN_KIND_HANDLER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct titan_job j;
        assert_int_equal(titan_job_read(slice_str(cases[i].text), &arena, &j, &why), ERR_OK);
        is(j.id, cases[i].id);
        is(j.file, cases[i].file);
        is(j.args, cases[i].args);
        is(j.base64, cases[i].base64);
        assert_int_equal(j.priority, cases[i].priority);
        assert_int_equal(j.delay_ms, cases[i].delay_ms);
        assert_int_equal(j.kind, cases[i].kind);
    }
    struct titan_job j;
    assert_int_equal(titan_job_read(SLICE(""), &arena, &j, &why), ERR_INVALID);
    assert_int_equal(titan_job_read(SLICE("1|2"), &arena, &j, &why), ERR_INVALID);
}

/* ---- base64 ---- */

/* ---- gates ---- */

static const struct {
    const char *text;
    bool is_gate;
} shapes[] = {
    {"hitl-gate-a|RUN_PAYLOAD|hitl_gate.py|hitl-gate-a 172800 Go on?|QQ==|GENERAL|1|0|[a]", true},
    {"DAG-hitl-gate-a|RUN_PAYLOAD|perm_files/hitl_gate.py|hitl-gate-a 172800 Go on?|QQ==|1|0|[]", true},
    {"hitl-gate-a|GPU|RUN_PAYLOAD|hitl_gate.py|hitl-gate-a 172800 Go on?|QQ==|3|100|[]|AFFINITY", true},
    {"hitl-gate-a|RUN_PAYLOAD|hitl_gate.sh|hitl-gate-a 172800 Go on?|QQ==|1|0|[]", false},
    {"hitl-gate-a|RUN_PAYLOAD|my_hitl_gate.py|hitl-gate-a 172800 Go on?|QQ==|1|0|[]", false},
    {"hitl-gate-a|DEPLOY_PAYLOAD|hitl_gate.py|QQ==|81|1|0|[]", false},
    {"hitl-gate-a|RUN_ARCHIVE|p.zip/hitl_gate.py|hitl-gate-a 172800 Go on?|1|0|[]", false},
    {"gate-a|RUN_PAYLOAD|hitl_gate.py|gate-a 172800 Go on?|QQ==|1|0|[]", false},
    {"hitl-gate-|RUN_PAYLOAD|hitl_gate.py|hitl-gate- 172800 Go on?|QQ==|1|0|[]", false},
    {"hitl-gate-a|RUN_PAYLOAD|hitl_gate.py|hitl-gate-b 172800 Go on?|QQ==|1|0|[]", false},
    {"hitl-gate-a|RUN_PAYLOAD|hitl_gate.py|DAG-hitl-gate-a 172800 Go on?|QQ==|1|0|[]", false},
    {"hitl-gate-a|RUN_PAYLOAD|hitl_gate.py|hitl-gate-a soon Go on?|QQ==|1|0|[]", false},
    {"hitl-gate-a|RUN_PAYLOAD|hitl_gate.py|hitl-gate-a 0 Go on?|QQ==|1|0|[]", false},
    {"hitl-gate-a|RUN_PAYLOAD|hitl_gate.py|hitl-gate-a -5 Go on?|QQ==|1|0|[]", false},
    {"hitl-gate-a|RUN_PAYLOAD|hitl_gate.py|hitl-gate-a 999999999999999999 Go on?|QQ==|1|0|[]", false},
    {"hitl-gate-a|RUN_PAYLOAD|hitl_gate.py|hitl-gate-a 172800|QQ==|1|0|[]", false},
    {"hitl-gate-a|RUN_PAYLOAD|hitl_gate.py|hitl-gate-a 172800 \xff|QQ==|1|0|[]", false},
    {"hitl-gate-a|RUN_PAYLOAD|hitl_gate.py||QQ==|1|0|[]", false},
};

static void a_gate_has_exactly_one_form(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct titan_job j = dag_job(shapes[i].text);
        struct titan_gate gate;
        if (titan_gate_read(&j, &gate) != shapes[i].is_gate) fail_msg("%s", shapes[i].text);
        if (!shapes[i].is_gate) continue;
        is(gate.id, "hitl-gate-a");
        is(gate.message, "Go on?");
        assert_int_equal(gate.wait_ms, 172800000);
    }
}

/* ---- as a flow ---- */

static const struct titan_rules rules = {.dag_ms = 86400000,
                                         .alone_ms = 60000,
                                         .priority_max = 1000,
                                         .name_bytes_max = 128,
                                         .gates = true,
                                         .gate_ms_max = 31622400000,
                                         .gate_id_bytes_max = 100};

static struct wire_run run_of(const struct wire_job *j) {
    struct wire_run run;
    assert_int_equal(tlv_decode(&wire_run_desc, j->body, TLV_STRICT, &arena, &run, &why), ERR_OK);
    return run;
}

static void a_submission_is_a_flow(void **state) {
    (void)state;
    struct titan_jobs jobs = {0};
    struct wire_flow f;
    const char *text = "a|RUN_PAYLOAD|f.sh|x  y|QQ==|GPU|5|100|[]|AFFINITY;"
                       "b/c|DEPLOY_PAYLOAD|s.py|QQ==|80|GENERAL|-9|0|[a,z,a];a|RUN_PAYLOAD|f||QQ==|99999|0|[]";
    assert_int_equal(titan_dag_read(slice_str(text), &arena, &jobs, &why), ERR_OK);
    for (uint32_t i = 0; i < jobs.count; i++) jobs.at[i].bytes = SLICE("A");
    jobs.at[1].parents[1].target = SLICE("f11/z");
    assert_int_equal(titan_flow(&jobs, &rules, &arena, &f, &why), ERR_OK);
    const struct wire_job *j = f.part.jobs.at;
    const struct wire_options *o = f.part.options.at;
    const struct wire_pair *label = f.labels.at;
    is(label->value, "titan");
    is(f.name, "DAG-a");
    is(j[0].name, "DAG-a");
    is(j[1].name, "DAG-b_c");
    is(j[2].name, "DAG-a.3"); /* two jobs of one id are two jobs */
    assert_int_equal(j[1].parents.count, 1);
    assert_int_equal(j[1].parents.at[0], 2);
    assert_int_equal(j[1].parent_names.count, 1);
    assert_int_equal(f.part.options.count, 3);
    assert_int_equal(o[0].priority, 4); /* above our normal level, which is 1 */
    assert_int_equal(o[1].priority, -1);
    assert_int_equal(o[2].priority, 999);
    assert_true(o[0].affinity && o[0].delay_from_submit && o[0].delay_ms == 100);
    assert_int_equal(o[0].attempts_max, 4);
    assert_int_equal(o[0].backoff_cap_ms, 1);
    assert_int_equal(o[0].run_timeout_ms, 86400000);
    assert_int_equal(o[1].kind, JOB_SERVICE);
    is(j[1].service, "DAG-b_c");
    struct wire_run run = run_of(&j[0]);
    assert_int_equal(run.argv.count, 2);
    assert_true(run.shared);
    is(((const struct wire_arg *)run.interpreter.at)->text, "/bin/bash");
    is(((const struct wire_pair *)run.labels.at)->value, "DAG-a");
    run = run_of(&j[2]);
    assert_int_equal(run.interpreter.count, 0);
}

static struct wire_options options_of(const char *text, const struct titan_rules *r, struct wire_run *ret) {
    struct titan_job *j = ARENA_NEW(&arena, struct titan_job);
    struct titan_jobs jobs = {j, 1};
    struct wire_flow f;
    *j = dag_job(text);
    j->bytes = SLICE("A");
    assert_int_equal(titan_flow(&jobs, r, &arena, &f, &why), ERR_OK);
    *ret = run_of(f.part.jobs.at);
    return *(const struct wire_options *)f.part.options.at;
}

static void a_gate_needs_no_worker(void **state) {
    (void)state;
    struct wire_run run;
    struct titan_rules other = rules;
    struct wire_options o = options_of(shapes[0].text, &rules, &run);
    const struct wire_pair *labels = run.labels.at;
    assert_int_equal(o.kind, JOB_GATE);
    assert_int_equal(o.approval_ms, 172800000);
    assert_int_equal(o.demand.capabilities.count, 0);
    assert_int_equal(run.script.len, 0);
    is(run.message, "Go on?");
    is(labels[0].value, "DAG-hitl-gate-a");
    is(labels[1].key, TITAN_GATE_LABEL);
    is(labels[1].value, "hitl-gate-a");
    other.gates = false;
    assert_int_equal(options_of(shapes[0].text, &other, &run).kind, JOB_SCRIPT);
    other = rules;
    other.gate_ms_max = 172799999; /* longer than anything may wait here */
    assert_int_equal(options_of(shapes[0].text, &other, &run).kind, JOB_SCRIPT);
    other = rules;
    other.gate_id_bytes_max = 10; /* no key could name it */
    assert_int_equal(options_of(shapes[0].text, &other, &run).kind, JOB_SCRIPT);
}

static void another_worker_is_told_its_port_and_its_master(void **state) {
    (void)state;
    struct wire_run run;
    struct titan_rules r = rules;
    r.listen = SLICE("10.1.2.3:9090");
    struct wire_options o = options_of("w|DEPLOY_PAYLOAD|Worker.jar|QQ==|8095|GENERAL|1|0|[]", &r, &run);
    const struct wire_arg *args = run.argv.at;
    assert_int_equal(run.argv.count, 2);
    is(args[0].text, "8095");
    is(args[1].text, "10.1.2.3");
    assert_int_equal(run.port, 8095);
    is(o.demand.topic, ""); /* not for Titan's own workers */
    r.listen = SLICE("0.0.0.0:9090");
    (void)options_of("w|DEPLOY_PAYLOAD|Worker.jar|QQ==|8095|GENERAL|1|0|[]", &r, &run);
    is(((const struct wire_arg *)run.argv.at)[1].text, "127.0.0.1");
    o = options_of("w|DEPLOY_PAYLOAD|other.jar|QQ==|8095|GENERAL|1|0|[]", &r, &run);
    assert_int_equal(run.argv.count, 0);
    is(o.demand.topic, TITAN_TOPIC);
    assert_int_equal(o.token_rights, 3);
    is(run.titan, "0.0.0.0:9090");
}

/* Options are shared by equal jobs; a gate beside a script must not take its. */
static void gates_of_different_times_are_told_apart(void **state) {
    (void)state;
    struct titan_jobs jobs = {0};
    struct wire_flow f;
    const char *text =
        "hitl-gate-a|RUN_PAYLOAD|hitl_gate.py|hitl-gate-a 60 x|QQ==|1|0|[];s|RUN_PAYLOAD|f.py||QQ==|1|0|[];"
        "hitl-gate-b|RUN_PAYLOAD|hitl_gate.py|hitl-gate-b 61 x|QQ==|1|0|[];"
        "hitl-gate-c|RUN_PAYLOAD|hitl_gate.py|hitl-gate-c 60 y|QQ==|1|0|[]";
    assert_int_equal(titan_dag_read(slice_str(text), &arena, &jobs, &why), ERR_OK);
    for (uint32_t i = 0; i < jobs.count; i++) jobs.at[i].bytes = SLICE("A");
    assert_int_equal(titan_flow(&jobs, &rules, &arena, &f, &why), ERR_OK);
    const struct wire_job *j = f.part.jobs.at;
    const struct wire_options *o = f.part.options.at;
    const struct wire_pair *labels = f.labels.at;
    is(labels[1].key, TITAN_JOBS_LABEL);
    is(labels[1].value, "4");
    assert_int_equal(f.part.options.count, 3);
    assert_int_equal(o[j[0].options].approval_ms, 60000);
    assert_int_equal(o[j[1].options].kind, JOB_SCRIPT);
    assert_int_equal(o[j[2].options].approval_ms, 61000);
    assert_int_equal(j[3].options, j[0].options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read),
        cmocka_unit_test(parents_are_found_in_the_payload_or_elsewhere),
        cmocka_unit_test(what_is_no_dag_is_refused_with_a_reason),
        cmocka_unit_test(a_job_alone),
        cmocka_unit_test(a_gate_has_exactly_one_form),
        cmocka_unit_test(a_submission_is_a_flow),
        cmocka_unit_test(a_gate_needs_no_worker),
        cmocka_unit_test(another_worker_is_told_its_port_and_its_master),
        cmocka_unit_test(gates_of_different_times_are_told_apart),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
