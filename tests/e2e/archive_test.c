/* archive_test.c: jobs that are archives, from the flow file to the log: formats, entry points, folders, and what a
 * person reads when one is refused. What archives may hold at all: unpack_test.c. */
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "packer.h"
#include "realcli.h"

static struct realcli *const r = &realcli_group;
static struct packer packer;

static void begin(const char *name, const char *format) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", r->data, name);
    packer_open(&packer, path, format);
}

static const char *errors; /* what the last job wrote there */

/* Submits a job with these keys, waits for its end, and returns what it wrote. */
static const char *ran(const char *keys, const char *state) {
    static char id[64];
    char text[1024], args[128];
    snprintf(text, sizeof text, "jobs:\n  a:\n    retries: 0\n    %s\n", keys);
    snprintf(id, sizeof id, "%s", realcli_submit(r, text, ""));
    (void)realcli_run(r, realcli_at("wait -q @", id), NULL, NULL);
    snprintf(args, sizeof args, "show %s/a", id);
    const char *shown = realcli_ok(r, args, NULL).out;
    if (strstr(shown, state) == NULL) fail_msg("%s: not `%s`: %s", keys, state, shown);
    struct ran logs = realcli_ok(r, realcli_at("logs @/a", id), NULL);
    errors = logs.err;
    return logs.out;
}

static void every_format_runs(void **state) {
    (void)state;
    static const char *const formats[] = {"zip", "tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char name[32], keys[128];
        snprintf(name, sizeof name, "bundle.%s", formats[i]);
        begin(name, formats[i]);
        packer_file(&packer, "main.py", "import sys, lib.words\nprint(lib.words.hello, sys.argv[1:])\n");
        packer_file(&packer, "lib/words.py", "hello = 'hello'\n");
        packer_close(&packer);
        snprintf(keys, sizeof keys, "archive: {file: %s, args: [a b, 7]}", name);
        assert_string_equal(ran(keys, "succeeded"), "hello ['a b', '7']\n");
    }
}

static void entry_points_are_found_or_named(void **state) {
    (void)state;
    static const char *const order[] = {"main",    "run",         "main.sh", "run.sh",
                                        "main.py", "__main__.py", "main.js", "index.js"};
    for (size_t first = 0; first < 6; first++) { /* the last two need node */
        begin("e.zip", "zip");
        for (size_t i = sizeof order / sizeof order[0]; i > first; i--) {
            char text[64];
            bool is_python = strstr(order[i - 1], ".py") != NULL;
            if (is_python)
                snprintf(text, sizeof text, "print('%s')\n", order[i - 1]);
            else
                snprintf(text, sizeof text, "#!/bin/sh\necho %s\n", order[i - 1]);
            packer_file(&packer, order[i - 1], text); /* 0644: rights do not matter */
        }
        packer_close(&packer);
        char wanted[32];
        snprintf(wanted, sizeof wanted, "%s\n", order[first]);
        assert_string_equal(ran("archive: e.zip", "succeeded"), wanted);
    }
    assert_string_equal(ran("archive: {file: e.zip, entry: __main__.py}", "succeeded"), "__main__.py\n");
}

static void folders_are_chosen_and_taken_off(void **state) {
    (void)state;
    begin("tree.tar.gz", "tar.gz");
    packer_file(&packer, "project-1.2/bin/go.sh", "pwd | sed 's:.*/work:work:'; cat data.txt 2>&1\n");
    packer_file(&packer, "project-1.2/share/data.txt", "data\n");
    packer_file(&packer, "project-1.2/data.txt", "top\n");
    packer_close(&packer);
    assert_string_equal(
        ran("archive: {file: tree.tar.gz, entry: project-1.2/bin/go.sh, dir: project-1.2/share}", "succeeded"),
        "work/project-1.2/share\ndata\n");
    assert_string_equal(ran("archive: {file: tree.tar.gz, strip: 1, entry: bin/go.sh}", "succeeded"), "work\ntop\n");
    (void)ran("archive: tree.tar.gz", "or take its only folder off by `strip: 1`");
    (void)ran("archive: {file: tree.tar.gz, entry: no/such.sh}", "there is no file `no/such.sh` in it");
    (void)ran("archive: {file: tree.tar.gz, strip: 1, entry: bin/go.sh, dir: nowhere}",
              "there is no folder `nowhere` in it");
    (void)ran("archive: {file: tree.tar.gz, strip: 1, entry: data.txt}", "no interpreter for `data.txt`");
}

static void a_large_one_goes_as_a_blob_with_inputs_and_artifacts(void **state) {
    (void)state;
    begin("large.tar", "tar");
    packer_file(&packer, "run.sh", "cat in.txt; wc -c <zeroes; echo kept >out.txt; echo '{\"n\": 1}' >$REEVE_OUTPUT\n");
    packer_zeroes(&packer, "zeroes", 300000);
    packer_close(&packer);
    char id[64];
    snprintf(id, sizeof id, "%s",
             realcli_submit(r,
                            "jobs:\n  first: {run: echo from the parent >x, artifacts: [x]}\n"
                            "  a:\n    needs: first\n    archive: large.tar\n    inputs: {in.txt: first/x}\n"
                            "    artifacts: [out.txt]\n",
                            ""));
    assert_int_equal(realcli_run(r, realcli_at("wait -q @", id), NULL, NULL).exit_code, 0);
    assert_string_equal(realcli_ok(r, realcli_at("logs @/a", id), NULL).out, "from the parent\n300000\n");
    assert_string_equal(realcli_ok(r, realcli_at("get @/a out.txt", id), NULL).out, "kept\n");
    assert_has(realcli_ok(r, realcli_at("show @/a", id), NULL).out, "{\"n\": 1}");
}

static void a_refusal_is_the_reason_of_the_failure(void **state) {
    (void)state;
    begin("bad.zip", "zip");
    packer_file(&packer, "main.sh", "echo ran\n");
    packer_file(&packer, "../../../../../../../tmp/reeve-archive-was-here", "x");
    packer_close(&packer);
    const char *log =
        ran("archive: bad.zip", "bad.zip: entry `../../../../../../../tmp/reeve-archive-was-here` leads out");
    assert_has(errors, "reeve: bad.zip: entry `../");
    assert_string_equal(log, "");
    assert_int_not_equal(access("/tmp/reeve-archive-was-here", F_OK), 0);
    begin("bomb.tar.zst", "tar.zst");
    packer_zeroes(&packer, "zeroes", 40u << 20);
    packer_close(&packer);
    (void)ran("archive: bomb.tar.zst", "entry `zeroes` is where the archive unpacks to more than archive_ratio_max");
}

static void an_exit_code_of_its_own_stays_its_own(void **state) {
    (void)state;
    begin("exit.zip", "zip");
    packer_file(&packer, "main.sh", "exit 125\n"); /* as a refusal has, but nothing was refused */
    packer_close(&packer);
    (void)ran("archive: exit.zip", "#1 exit 125");
}

static void one_is_run_from_the_command_line(void **state) {
    (void)state;
    char args[256];
    begin("cli.tar.gz", "tar.gz");
    packer_file(&packer, "main.sh", "echo main \"$@\"; exit 3\n");
    packer_file(&packer, "other.sh", "echo other\n");
    packer_close(&packer);
    snprintf(args, sizeof args, "run --archive %s/cli.tar.gz -- one %%s", r->data);
    struct ran got = realcli_run(r, args, "two words", NULL);
    assert_string_equal(got.out, "main one two words\n");
    assert_int_equal(got.exit_code, 3);
    snprintf(args, sizeof args, "run --archive %s/cli.tar.gz --entry other.sh", r->data);
    assert_string_equal(realcli_ok(r, args, NULL).out, "other\n");
    realcli_refused(r, "run --archive /no/such.zip", 5, "/no/such.zip: No such file");
    realcli_refused(r, "run --entry x -- true", 2, "--entry needs --archive");
    realcli_refused(r, "run", 2, "expected a command");
}

static void a_service_comes_in_one(void **state) {
    (void)state;
    char args[256];
    begin("web.tar.gz", "tar.gz");
    packer_file(
        &packer, "main.py",
        "import http.server, os\n"
        "http.server.test(http.server.SimpleHTTPRequestHandler, port=int(os.environ['PORT']), bind='127.0.0.1')\n");
    packer_file(&packer, "health", "fine\n"); /* served from where it was unpacked */
    packer_close(&packer);
    snprintf(args, sizeof args, "deploy %s/web.tar.gz --port auto --health /health", r->data);
    (void)realcli_ok(r, args, NULL);
    assert_has(realcli_ok(r, "services", NULL).out, "web ");
    (void)realcli_ok(r, "undeploy web", NULL);
    snprintf(args, sizeof args, "deploy %s",
             realcli_file(r, "web.yaml",
                          "jobs: {a: {service: {archive: web.tar.gz, name: web2, port: auto, health: /health}}}"));
    (void)realcli_ok(r, args, NULL);
    (void)realcli_ok(r, "undeploy web2", NULL);
}

static void a_sandbox_holds_for_one_too(void **state) {
    (void)state;
    const char *id = realcli_submit(r, "jobs: {a: {run: 'true', sandbox: strict, retries: 0}}", "");
    if (realcli_run(r, realcli_at("wait -q @", id), NULL, NULL).exit_code != 0) {
        print_message("skipped: no sandbox on this machine: %s\n",
                      realcli_run(r, realcli_at("show @/a", id), NULL, NULL).out);
        skip();
    }
    begin("box.zip", "zip");
    packer_file(&packer, "main.sh", "cat data; ls /home /root 2>/dev/null; echo over\n");
    packer_file(&packer, "data", "inside\n");
    packer_close(&packer);
    assert_string_equal(ran("archive: box.zip\n    sandbox: strict", "succeeded"), "inside\nover\n");
}

static void flow_files_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *keys, *said;
    } bad[] = {
        {"archive: none.zip", "none.zip: No such file"},
        {"archive: {entry: x}", "an archive needs its `file`"},
        {"archive: exit.zip\n    workdir: /tmp", "`dir` instead of `workdir`"},
        {"archive: exit.zip\n    run: x", "has exactly one kind: found `run` and `archive`"},
        {"archive: {file: exit.zip, entri: x}", "did you mean `entry`"},
        {"archive: {file: exit.zip, strip: -1}", "expected a whole number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[256], args[256];
        snprintf(text, sizeof text, "jobs:\n  a:\n    %s\n", bad[i].keys);
        snprintf(args, sizeof args, "submit %s", realcli_file(r, "bad.yaml", text));
        struct ran got = realcli_run(r, args, NULL, NULL);
        assert_int_not_equal(got.exit_code, 0);
        assert_has(got.err, bad[i].said);
    }
    (void)ran("archive: {file: exit.zip, entry: ../../../bin/sh}",
              "the entry point `../../../bin/sh` is not a path inside");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_runs),
        cmocka_unit_test(entry_points_are_found_or_named),
        cmocka_unit_test(folders_are_chosen_and_taken_off),
        cmocka_unit_test(a_large_one_goes_as_a_blob_with_inputs_and_artifacts),
        cmocka_unit_test(a_refusal_is_the_reason_of_the_failure),
        cmocka_unit_test(an_exit_code_of_its_own_stays_its_own),
        cmocka_unit_test(one_is_run_from_the_command_line),
        cmocka_unit_test(a_service_comes_in_one),
        cmocka_unit_test(a_sandbox_holds_for_one_too),
        cmocka_unit_test(flow_files_are_checked),
    };
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
