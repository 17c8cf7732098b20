/* artifact_test.c: files that jobs leave: in the record, listed, fetched, given to children, also after kill -9. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realcli.h"

static struct realcli *const r = &realcli_group;

static const char *submit(const char *text) {
    return realcli_submit(r, text, "");
}

/* The arguments with the id in place of each @. */
static struct ran with(const char *args, const char *id) {
    return realcli_run(r, realcli_at(args, id), NULL, NULL);
}

static const char pipeline[] =
    "jobs:\n"
    "  extract:\n"
    "    run: mkdir out; printf 'a,b' >out/data.csv; touch empty; head -c 300000 /dev/zero >large\n"
    "    artifacts: [out/*.csv, {path: empty, name: nothing}, large]\n"
    "  load:\n"
    "    needs: extract\n"
    "    inputs: {in/rows.csv: extract/out/data.csv, zero: extract/nothing, big: extract/large}\n"
    "    run: cat in/rows.csv; wc -c <zero; wc -c <big\n";

static void check_files(const char *id) {
    struct ran ran = with("show @/extract --json", id);
    assert_has(ran.out, "\"artifacts\":[{\"name\":\"out/data.csv\"");
    assert_has(ran.out, "\"name\":\"large\"");
    ran = with("get @/extract", id);
    assert_has(ran.out, "nothing");
    ran = with("get @/extract out/data.csv", id);
    assert_int_equal(ran.exit_code, 0);
    assert_string_equal(ran.out, "a,b");
    char args[128], path[96];
    snprintf(path, sizeof path, "%s/large", r->data);
    snprintf(args, sizeof args, "get %s/extract large -o %s", id, path);
    assert_int_equal(realcli_run(r, args, NULL, NULL).exit_code, 0);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    assert_int_equal(ftell(f), 300000);
    fclose(f);
    assert_int_equal(unlink(path), 0);
}

static void files_are_kept_and_given_to_children(void **state) {
    (void)state;
    char id[64];
    snprintf(id, sizeof id, "%s", submit(pipeline));
    assert_int_equal(with("wait -q @", id).exit_code, 0);
    assert_string_equal(with("logs @/load", id).out, "a,b0\n300000\n");
    check_files(id);
    struct ran ran = with("get @/extract no-such", id);
    assert_int_equal(ran.exit_code, 5);
    assert_has(ran.err, "has no artifact no-such");
    ran = with("get @ x", id);
    assert_int_equal(ran.exit_code, 2);
    assert_has(ran.err, "flow of");
    /* killed and started again by `up`, from the log alone */
    char command[256];
    snprintf(command, sizeof command, "kill -9 $(pgrep -o -P $(cat %s/up.pid))", r->data);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < 2000 && with("stats", "").exit_code == 8; i++) continue;
    check_files(id);
}

static void what_a_failure_left_is_kept_too(void **state) {
    (void)state;
    char id[64];
    snprintf(id, sizeof id, "%s", submit("jobs: {a: {run: echo core >dump; exit 3, retries: 0, artifacts: [dump]}}"));
    assert_int_equal(with("wait -q @", id).exit_code, 1);
    assert_string_equal(with("get @/a dump", id).out, "core\n");
}

static void a_file_that_is_not_there_is_said(void **state) {
    (void)state;
    char id[64];
    snprintf(id, sizeof id, "%s",
             submit("jobs:\n  a: {run: touch x.csv, artifacts: ['*.csv']}\n"
                    "  b: {run: cat y, needs: a, retries: 0, inputs: {y: a/y.csv}}"));
    assert_int_equal(with("wait -q @", id).exit_code, 1);
    assert_has(with("show @/b", id).out, "its input y is missing: a has no artifact y.csv");
}

static void wrong_inputs_are_refused_with_their_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"jobs:\n  a: x\n  b: {run: x, needs: a, inputs: {y: a/z}}", "`a` has no artifact `z`"},
        {"jobs:\n  a: {run: x, artifacts: [z]}\n  b: {run: x, inputs: {y: a/z}}", "it uses a file of `a`"},
        {"jobs:\n  a: {run: x, artifacts: [z]}\n  b: {run: x, needs: a, inputs: {y: z}}", "like `extract/out.csv`"},
        {"jobs:\n  a: {run: x, artifacts: [z]}\n  b: {run: x, needs: a, inputs: [z]}", "expected an object"},
        {"jobs:\n  a: {run: x, artifacts: [z]}\n  b: {noop: true, needs: a, inputs: {y: a/z}}", "only a job with"},
        {"jobs:\n  a: {run: x, artifacts: [z]}\n  b: {run: x, needs: a, cache: true, inputs: {y: a/z}}", "not both"},
        {"jobs:\n  b: {run: x, inputs: {y: nobody/z}}", "nobody"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ran ran = realcli_run(r, "submit %s", realcli_file(r, "bad.yaml", cases[i].text), NULL);
        assert_int_equal(ran.exit_code, 2);
        assert_has(ran.err, "bad.yaml:");
        assert_has(ran.err, cases[i].says);
    }
}

static int setup_small(void **state) {
    return setenv("REEVE_BLOB_BYTES_MAX", "200000", 1) != 0          ? -1
           : setenv("REEVE_BLOB_TENANT_BYTES_MAX", "300000", 1) != 0 ? -1
                                                                     : realcli_group_setup(state);
}

static int teardown_small(void **state) {
    (void)unsetenv("REEVE_BLOB_BYTES_MAX");
    (void)unsetenv("REEVE_BLOB_TENANT_BYTES_MAX");
    return realcli_group_teardown(state);
}

/* The job fails with the reason; it does not wait, and nothing of it is sent. */
static void a_file_that_is_too_much_ends_the_job(void **state) {
    (void)state;
    char id[64];
    snprintf(id, sizeof id, "%s", submit("jobs: {a: {run: head -c 200001 /dev/zero >x, retries: 0, artifacts: [x]}}"));
    assert_int_equal(with("wait -q @", id).exit_code, 1);
    assert_has(with("show @/a", id).out, "the blob is 200001 bytes long; the limit is 200000 (blob_bytes_max)");
    snprintf(id, sizeof id, "%s",
             submit("jobs:\n  a: {run: head -c 190000 /dev/zero >x, artifacts: [x]}\n"
                    "  b: {run: head -c 120000 /dev/zero >x, needs: a, retries: 0, artifacts: [x]}"));
    assert_int_equal(with("wait -q @", id).exit_code, 1);
    assert_has(with("show @/b", id).out, "120000 more are beyond 300000 (blob_tenant_bytes_max)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_kept_and_given_to_children, realcli_group_setup,
                                        realcli_group_teardown),
        cmocka_unit_test_setup_teardown(what_a_failure_left_is_kept_too, realcli_group_setup, realcli_group_teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_not_there_is_said, realcli_group_setup, realcli_group_teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_too_much_ends_the_job, setup_small, teardown_small),
        cmocka_unit_test_setup_teardown(wrong_inputs_are_refused_with_their_place, realcli_group_setup,
                                        realcli_group_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
