/* sandbox_test.c: jobs try to get out of their sandbox, by every way of tests/lib/escape.c: of a worker that is root,
 * and of one that is not. Each attempt is also made by a job without a sandbox, as a witness that it is one. */
#include "test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"
#include "oslandlock.h"
#include "realcli.h"
#include "realserver.h"
#include "realworker.h"

#define ORDINARY_UID 12345u

/* A worker, and what its jobs got through to. */
struct site {
    const char *name;
    bool is_root, is_there;
    struct realworker worker;
    struct escape_world world;
    char space[256];
    const char *free, *strict, *net_off, *files; /* logs of the jobs */
};

static struct realserver server;
static struct realcli r;
static char base[64], outside[80], tool[96], program[96], abstract[64];
static pid_t echo_pid;
static uint32_t tcp_port, udp_port;
static struct site sites[2] = {{.name = "root", .is_root = true}, {.name = "user"}};

/* ---- something to reach ---- */

static int bound(int type, uint32_t *ret_port) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof here;
    int fd = socket(AF_INET, type, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&here, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&here, &len), 0);
    *ret_port = ntohs(here.sin_port);
    return fd;
}

static void listen_everywhere(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int tcp = bound(SOCK_STREAM, &tcp_port), udp = bound(SOCK_DGRAM, &udp_port);
    int plain = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(abstract, sizeof abstract, "reeve-escape-%d", (int)getpid());
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%s", abstract);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(abstract));
    assert_int_equal(bind(plain, (struct sockaddr *)&name, len), 0);
    assert_int_equal(listen(tcp, 64) + listen(plain, 64), 0);
    echo_pid = fork();
    for (char byte; echo_pid == 0;) { /* connections wait in the queue; packets are sent back */
        struct sockaddr_in from;
        socklen_t from_len = sizeof from;
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (recvfrom(udp, &byte, 1, 0, (struct sockaddr *)&from, &from_len) == 1)
            (void)!sendto(udp, &byte, 1, 0, (struct sockaddr *)&from, from_len);
    }
    (void)close(tcp);
    (void)close(udp);
    (void)close(plain);
}

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...) {
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (system(command) != 0) fail_msg("%s", command);
}

static void files_make(void) {
    char self[512] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(base, sizeof base, "/var/tmp/reeve-escape-%d", (int)getpid());
    snprintf(outside, sizeof outside, "%s/outside", base);
    snprintf(tool, sizeof tool, "%s/bin/escape", base);
    snprintf(program, sizeof program, "%s/bin/reeve", base);
    shell("umask 022; mkdir -p %s %s/bin && chmod 777 %s && echo secret > %s/secret", outside, base, outside, outside);
    shell("cp %s %s && cp %s %s && chmod 755 %s/bin/*", self, tool, realserver_binary(), program, base);
}

/* ---- the jobs ---- */

static void neighbour_start(struct site *s) {
    char flow[1024], path[128];
    snprintf(path, sizeof path, "%s/%s.pid", outside, s->name);
    snprintf(flow, sizeof flow,
             "name: neighbour\njobs:\n  n:\n    pool: %s\n    run: |\n      echo secret > secret\n"
             "      echo $$ $PWD > %s.new; mv %s.new %s; exec sleep 1000\n",
             s->name, path, path, path);
    (void)realcli_submit(&r, flow, "");
    char *space = NULL;
    s->world.neighbour = (pid_t)strtol(test_file_line(path), &space, 10);
    snprintf(s->space, sizeof s->space, "%.*s", (int)strcspn(space + 1, "\n"), space + 1);
    s->world.neighbour_space = s->space;
}

static const char *log_of(const char *flow, const char *job) {
    char args[128];
    snprintf(args, sizeof args, "logs %s/%s", flow, job);
    return realcli_ok(&r, args, NULL).out;
}

static void attempts_make(struct site *s) {
    char flow[4096], args[1024], id[32];
    static const char *const names[] = {"free", "strict", "net-off", "files"};
    char boxes[4][160] = {"none", "", "net-off", ""};
    const char **const logs[] = {&s->free, &s->strict, &s->net_off, &s->files};
    snprintf(boxes[1], sizeof boxes[1], "{strict: true, read-only: %s/bin}", base);
    snprintf(boxes[3], sizeof boxes[3], "{read-only: [%s/bin]}", base);
    escape_args(&s->world, args, sizeof args);
    size_t len =
        (size_t)snprintf(flow, sizeof flow, "name: escape\ndefaults: {pool: %s, retries: 0}\njobs:\n", s->name);
    for (int i = 0; i < 4; i++)
        len += (size_t)snprintf(flow + len, sizeof flow - len, "  %s: {sandbox: %s, run: [%s, --escape, %s]}\n",
                                names[i], boxes[i], tool, args);
    snprintf(id, sizeof id, "%s", realcli_submit(&r, flow, "--wait"));
    for (int i = 0; i < 4; i++) *logs[i] = log_of(id, names[i]);
}

static void site_start(struct site *s) {
    struct realworker *w = &s->worker;
    realworker_make(w, &server, s->name);
    snprintf(w->data, sizeof w->data, "%s/%s", base, s->name);
    w->binary = program;
    w->server = server.address;
    w->token = server.worker;
    w->flags[0] = "--pool";
    w->flags[1] = s->name;
    if (!s->is_root && geteuid() == 0) {
        w->uid = ORDINARY_UID;
        shell("mkdir %s && chown %u:%u %s", w->data, ORDINARY_UID, ORDINARY_UID, w->data);
    }
    realworker_start(w, &server);
    s->world = (struct escape_world){.outside = outside,
                                     .server_data = server.data,
                                     .server_socket = server.socket + strlen("unix:"),
                                     .abstract = abstract,
                                     .tcp_port = tcp_port,
                                     .udp_port = udp_port,
                                     .worker = w->pid};
    neighbour_start(s);
    attempts_make(s);
    s->is_there = true;
}

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    server.flags[0] = "--log-level";
    server.flags[1] = "warn";
    server.quiet = true;
    realserver_start(&server);
    snprintf(r.data, sizeof r.data, "%s", server.data);
    files_make();
    listen_everywhere();
    for (int i = 0; i < 2; i++) {
        if (sites[i].is_root && geteuid() != 0) continue;
        if (escape_kernel_can(!sites[i].is_root && geteuid() == 0 ? ORDINARY_UID : 0)) site_start(&sites[i]);
    }
    return 0;
}

static int teardown(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++)
        if (sites[i].worker.pid != 0) realworker_kill(&sites[i].worker);
    (void)kill(echo_pid, SIGKILL);
    (void)waitpid(echo_pid, NULL, 0);
    realserver_remove(&server);
    shell("rm -rf %s", base);
    return 0;
}

/* ---- what came of it ---- */

/* What the log says about an attempt: its line, without the name. */
static const char *said(const char *log, const char *name) {
    static char line[128];
    for (const char *at = log; at != NULL && *at != 0; at = strchr(at, '\n'), at += at != NULL) {
        size_t len = strlen(name);
        if (strncmp(at, name, len) != 0 || at[len] != ' ') continue;
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at + len + 1, "\n"), at + len + 1);
        return line;
    }
    fail_msg("nothing about %s in: %s", name, log);
    return NULL;
}

static bool came_through(const char *log, const char *name) {
    return strcmp(said(log, name), "through") == 0;
}

static void nothing_gets_out(void **state) {
    const struct escape *e = *state;
    for (int i = 0; i < 2; i++) {
        const struct site *s = &sites[i];
        if (!s->is_there) continue;
        if (came_through(s->strict, e->name)) fail_msg("%s: %s came through", s->name, e->name);
        bool must = e->witness == WITNESS_ALWAYS || (e->witness == WITNESS_ROOT && s->is_root);
        if (must && !came_through(s->free, e->name))
            fail_msg("%s: %s proves nothing: without a sandbox it is %s", s->name, e->name, said(s->free, e->name));
        if (e->witness == WITNESS_IF_KERNEL && !came_through(s->free, e->name))
            printf("# %s: %s has no witness here: %s\n", s->name, e->name, said(s->free, e->name));
    }
}

static void net_off_is_without_network(void **state) {
    static const char *const ways[] = {"tcp_to_the_host",     "udp_to_the_host",    "abstract_socket",
                                       "packet_socket",       "network_of_another", "new_user_namespace",
                                       "neighbour_signalled", "worker_environment"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        if (!sites[i].is_there) continue;
        for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++)
            if (came_through(sites[i].net_off, ways[k])) fail_msg("%s: %s came through", sites[i].name, ways[k]);
        assert_true(came_through(sites[i].net_off, "read_outside")); /* files are as they were */
    }
}

static void paths_alone_leave_the_network(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        if (!sites[i].is_there) continue;
        assert_true(came_through(sites[i].files, "tcp_to_the_host"));
        assert_false(came_through(sites[i].files, "read_outside"));
        assert_false(came_through(sites[i].files, "socket_of_the_server"));
        assert_false(came_through(sites[i].files, "worker_environment"));
        if (oslandlock_abi() >= 6) assert_false(came_through(sites[i].files, "abstract_socket"));
    }
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[128] = {
        {"net_off_is_without_network", net_off_is_without_network, NULL, NULL, NULL},
        {"paths_alone_leave_the_network", paths_alone_leave_the_network, NULL, NULL, NULL},
    };
    if (argc == 2 + ESCAPE_ARGS && strcmp(argv[1], "--escape") == 0) return escape_main(argv + 2);
    for (uint32_t i = 0; i < escape_count; i++)
        tests[2 + i] =
            (struct CMUnitTest){escapes[i].name, nothing_gets_out, NULL, NULL, (void *)(uintptr_t)&escapes[i]};
    return _cmocka_run_group_tests("sandbox", tests, 2 + escape_count, setup, teardown);
}
