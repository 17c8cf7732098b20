/* progress_test.c: how far an upload is: on a terminal, for large files, and nowhere else. */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "realcli.h"
#include "realtty.h"

static struct realcli *const r = &realcli_group;

static const char *in_data(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", r->data, name);
    return path;
}

static void start(struct realtty *t, const char *args, const char *name) {
    char place[96], all[256];
    snprintf(place, sizeof place, "REEVE_DATA=%s", r->data);
    snprintf(all, sizeof all, "%s %s", args, in_data(name));
    realtty_start(t, NULL, all, 24, 80, place);
}

/* Its end comes when it was seen how far the upload is. */
static void bytes_and_rate_are_shown_while_a_pipe_is_read(void **state) {
    (void)state;
    static char block[1 << 20];
    struct realtty t;
    assert_int_equal(mkfifo(in_data("pipe"), 0600), 0);
    start(&t, "blob put", "pipe");
    int fd = open(in_data("pipe"), O_WRONLY);
    assert_true(fd >= 0);
    for (int i = 0; i < 9; i++)
        for (size_t done = 0; done < sizeof block;) {
            ssize_t n = write(fd, block, sizeof block - done);
            assert_true(n > 0);
            done += (size_t)n;
        }
    realtty_sees(&t, "pipe ");
    realtty_sees(&t, "MiB/s");
    close(fd);
    assert_int_equal(realtty_ends(&t), 0);
    assert_int_equal(emulator_find(&t.screen, "MiB"), -1); /* nothing of it is left */
}

static void a_large_file_of_a_flow_has_a_bar(void **state) {
    (void)state;
    struct realtty t;
    (void)realcli_file(r, "flow.yaml", "jobs: {a: {script: large.sh}}");
    assert_int_equal(truncate(realcli_file(r, "large.sh", "#!/bin/sh\n"), 200 << 20), 0);
    start(&t, "submit", "flow.yaml");
    realtty_sees(&t, " of 200.0 MiB, ");
    assert_true(emulator_find(&t.screen, "large.sh") >= 0 && emulator_find(&t.screen, "─") >= 0);
    assert_int_equal(realtty_ends(&t), 0);
    assert_int_equal(emulator_find(&t.screen, "MiB"), -1);
}

static void small_files_and_pipes_show_nothing(void **state) {
    (void)state;
    struct realtty t;
    start(&t, "blob put", "flow.yaml");
    assert_int_equal(realtty_ends(&t), 0);
    assert_int_equal(emulator_find(&t.screen, "KiB"), -1);
    assert_int_equal(truncate(realcli_file(r, "other", "x"), 20 << 20), 0);
    assert_string_equal(realcli_ok(r, "blob put %s", in_data("other")).err, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_rate_are_shown_while_a_pipe_is_read),
        cmocka_unit_test(a_large_file_of_a_flow_has_a_bar),
        cmocka_unit_test(small_files_and_pipes_show_nothing),
    };
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
