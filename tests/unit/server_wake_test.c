/* server_wake_test.c: a server whose threads have spoken comes to rest. What they did may have been taken by a pass
 * before their word was on the descriptor; the word must be read all the same, or the loop turns for ever. */
#include "test.h"

#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include "file.h"
#include "osclock.h"
#include "osdigest.h"
#include "osloop.h"
#include "ram.h"
#include "server.h"
#include "tmpdisk.h"

static void log_nothing(void *ctx, enum server_level level, const char *what, const char *text) {
    (void)ctx, (void)level, (void)what, (void)text;
}

static bool is_readable(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void a_word_that_comes_late_is_read(void **state) {
    (void)state;
    struct tmpdisk t;
    struct osloop *loop;
    struct server *s;
    struct why why = {{0}};
    const uint64_t one = 1;
    int fds[2];
    tmpdisk_make(&t);
    assert_int_equal(osloop_open(8, &loop, &why), ERR_OK);
    struct server_world world = {
        .disk = t.disk, .clock = osclock(), .hasher = osdigest(), .net = osloop_net(loop), .log = log_nothing};
    struct server_options o = {.build = "test", .uid = getuid()};
    struct file_options journal;
    file_options_default(&journal);
    journal.segment_bytes = 1 << 20;
    assert_int_equal(file_open(t.disk, osclock(), &journal, &world.journal, &why), ERR_OK);
    limits_default(&o.limits);
    assert_int_equal(server_open(&world, &o, &s, &why), ERR_OK);
    server_fds(s, &fds[0], &fds[1]);
    do server_pass(s); /* until its first record is durable and sealed */
    while (is_readable(fds[0]) || server_next(s).ms <= osclock()->mono(osclock()).ms + 200);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(write(fds[i], &one, sizeof one), sizeof one);
        assert_true(is_readable(fds[i]));
        server_wake(s);
        server_pass(s);
        assert_false(is_readable(fds[i]));
    }
    server_close(s);
    osloop_close(loop);
    tmpdisk_remove(&t);
}

/* The server takes whatever journal it is given; here one without a disk. */
static void a_server_runs_on_a_journal_in_memory(void **state) {
    (void)state;
    struct tmpdisk t;
    struct osloop *loop;
    struct server *s;
    struct why why = {{0}};
    struct journal_report r;
    struct journal *j;
    struct ram *ram = ram_new(&(struct ram_options){0});
    tmpdisk_make(&t);
    assert_int_equal(osloop_open(8, &loop, &why), ERR_OK);
    struct server_world world = {
        .disk = t.disk, .clock = osclock(), .hasher = osdigest(), .net = osloop_net(loop), .log = log_nothing};
    struct server_options o = {.build = "test", .uid = getuid(), .without_threads = true};
    limits_default(&o.limits);
    for (uint32_t life = 1; life <= 3; life++) {
        assert_int_equal(ram_open(ram, &world.journal, &why), ERR_OK);
        assert_int_equal(server_open(&world, &o, &s, &why), ERR_OK);
        do server_pass(s);
        while (server_step(s));
        server_close(s);
        assert_int_equal(ram_open(ram, &j, &why), ERR_OK);
        assert_int_equal(j->ops->verify(j, &r, &why), ERR_OK);
        j->ops->close(j);
        assert_int_equal(r.epoch, life);
        assert_true(r.last_lsn >= life && r.sealed);
    }
    osloop_close(loop);
    tmpdisk_remove(&t);
    ram_free(ram);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_word_that_comes_late_is_read),
                                       cmocka_unit_test(a_server_runs_on_a_journal_in_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
