/* service_test.c: services on real workers: deployed, probed in every way, replaced and rolled back, stopped, moved,
 * adopted; and what the command line says about them. The service is this program (tests/lib/realservice.h). */
#include "test.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realserver.h"
#include "realservice.h"
#include "realshell.h"
#include "realworker.h"

#define WAIT_MS 30000

static struct realserver server;
static struct realworker first, second;
static struct realshell h = {&server, ""};
static char dir[128]; /* of the present test's service */

/* ---- helpers ---- */

#define HERE "REEVE_DATA=$D"

static void must(const char *verb, const char *arg) {
    char args[512];
    snprintf(args, sizeof args, "%s %s", verb, arg);
    int code = realshell_run(&h, HERE, args);
    if (code != 0) fail_msg("reeve %s: exit %d: %s", args, code, h.said);
}

static void refused(const char *args, int code, const char *words) {
    realshell_refused(&h, HERE, args, code, words);
}

/* A value of a service as --json shows it: the text behind the key, or "" when it is left out. */
static const char *value_of(const char *name, const char *key) {
    static char value[256];
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s --json", name);
    must("services", wanted);
    snprintf(wanted, sizeof wanted, "\"%s\":", key);
    const char *at = strstr(h.said, wanted);
    value[0] = 0;
    if (at == NULL) return value;
    at += strlen(wanted) + (at[strlen(wanted)] == '"');
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\",}"), at);
    return value;
}

static uint32_t number_of(const char *name, const char *key) {
    return (uint32_t)strtoul(value_of(name, key), NULL, 10);
}

static struct realservice_answer ask(const char *name) {
    struct realservice_answer a = realservice_ask(number_of(name, "port"));
    if (a.pid == 0) fail_msg("%s does not answer: %s", name, h.said);
    return a;
}

/* Looks until it is so; a beginning will do. */
static void until(const char *name, const char *key, const char *value) {
    for (int ms = 0; strncmp(value_of(name, key), value, strlen(value)) != 0; ms += 20) {
        if (ms > WAIT_MS) fail_msg("%s of %s is never %s: %s", key, name, value, h.said);
        (void)poll(NULL, 0, 20);
    }
}

static void touch(const char *file, bool there) {
    char path[192];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    FILE *f = there ? fopen(path, "we") : NULL;
    if (f != NULL) (void)fclose(f);
    if (!there) (void)unlink(path);
}

static void use_dir(const char *name) {
    snprintf(dir, sizeof dir, "%s/%s", server.data, name);
    (void)mkdir(dir, 0700);
}

/* `reeve deploy ARGS` with a file that deploys the service with these keys, `@` is its directory; its exit code. */
static int deploy(const char *name, const char *word, const char *keys, const char *args) {
    char path[192], all[384];
    snprintf(path, sizeof path, "%s/%s.yaml", server.data, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f, "jobs:\n  %s:\n    kill_grace: 5s\n    service:\n      run: [%s, --serve, %s, %s]\n      port: auto\n",
            name, realservice_self(), dir, word);
    for (; *keys != 0; keys++)
        if (*keys == '@')
            fputs(dir, f);
        else
            putc(*keys, f);
    (void)fclose(f);
    snprintf(all, sizeof all, "deploy %s %s", path, args);
    return realshell_run(&h, HERE, all);
}

static void deploy_ok(const char *name, const char *word, const char *keys) {
    if (deploy(name, word, keys, "") != 0) fail_msg("deploy %s: %s", name, h.said);
}

/* A script as a service, by its text and further keys of the job: the arguments that deploy it. */
static const char *script_args(const char *verb, const char *name, const char *text, const char *keys,
                               const char *args) {
    static char all[384];
    char path[192];
    snprintf(path, sizeof path, "%s/%s.yaml", server.data, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f, "jobs:\n  %s:\n    service:\n      script: {name: s.sh, text: '%s'}\n%s", name, text, keys);
    (void)fclose(f);
    snprintf(all, sizeof all, "%s%s %s", verb, path, args);
    return all;
}

static void deploy_script(const char *name, const char *text, const char *keys, const char *args) {
    must("deploy", script_args("", name, text, keys, args));
}

#define QUICK "      restart: {base: 20ms, cap: 100ms}\n      healthy_within: 20s\n"

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    server.flags[0] = "--lease-ms";
    server.flags[1] = "4000";
    server.flags[2] = "--heartbeat-ms";
    server.flags[3] = "200";
    realserver_start(&server);
    realworker_make(&first, &server, "first");
    realworker_make(&second, &server, "second");
    realworker_start(&first, &server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (first.pid != 0) realworker_kill(&first);
    if (second.pid != 0) realworker_kill(&second);
    realserver_remove(&server);
    return 0;
}

/* ---- health ---- */

static bool is_alive(pid_t pid) {
    return kill(pid, 0) == 0;
}

static void every_kind_of_probe_finds_it_healthy(void **state) {
    (void)state;
    static const struct {
        const char *name, *keys;
    } kinds[] = {{"by-tcp", "      health: {tcp: true}\n"},
                 {"by-http", "      health: /\n"},
                 {"by-command", "      health: {command: 'test -n \"$PORT\" && test -e @/listens'}\n"},
                 {"by-port", ""}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        use_dir(kinds[i].name);
        deploy_ok(kinds[i].name, "v1", kinds[i].keys);
        assert_has(h.said, "healthy, version 1, on first");
        struct realservice_answer a = ask(kinds[i].name);
        assert_int_equal(a.status, 200);
        assert_string_equal(value_of(kinds[i].name, "state"), "running");
        must("undeploy", kinds[i].name);
        assert_int_equal(realservice_starts(dir), 1);
        assert_false(is_alive(a.pid)); /* undeploy waits for its end */
    }
    refused("services by-tcp", 5, "there is no service by-tcp");
}

/* What begins to fail, by each kind of probe, is ended by its worker and started again by the server. */
static void what_becomes_unhealthy_is_started_again(void **state) {
    (void)state;
    static const struct {
        const char *name, *file, *keys, *said;
    } kinds[] = {
        {"sick-http", "sick", "      health: {http: /, interval: 50ms, threshold: 2}\n" QUICK, "it answered 503"},
        {"sick-tcp", "deaf", "      health: {tcp: true, interval: 50ms, threshold: 2}\n" QUICK, "connection refused"},
        {"sick-command", "sick",
         "      health: {command: 'test -e @/listens || exit 1; test ! -e @/sick || { echo feverish; exit 4; }',"
         " interval: 50ms, threshold: 2}\n" QUICK,
         "the probe ended with 4: feverish"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char job[64];
        use_dir(kinds[i].name);
        deploy_ok(kinds[i].name, "v1", kinds[i].keys);
        pid_t before = ask(kinds[i].name).pid;
        touch(kinds[i].file, true);
        until(kinds[i].name, "restarts", "1");
        touch(kinds[i].file, false);
        until(kinds[i].name, "healthy", "true");
        struct realservice_answer a = ask(kinds[i].name);
        assert_int_equal(a.status, 200);
        assert_true(a.pid != before);
        assert_false(is_alive(before));
        assert_false(realservice_was_twice(dir));
        snprintf(job, sizeof job, "%s", value_of(kinds[i].name, "job"));
        must("show", job);
        assert_has(h.said, "stopped by the worker as unhealthy: 2 probes in a row failed");
        assert_has(h.said, kinds[i].said);
        must("undeploy", kinds[i].name);
    }
}

static void a_service_without_a_port_is_healthy_when_it_stays(void **state) {
    (void)state;
    char path[192];
    snprintf(path, sizeof path, "%s/ticker.sh", server.data);
    FILE *f = fopen(path, "we");
    fprintf(f, "echo \"args $*\"; exec sleep 1000\n");
    (void)fclose(f);
    char args[256];
    snprintf(args, sizeof args, "%s --name ticker -- one two", path);
    must("deploy", args);
    assert_has(h.said, "ticker  healthy, version 1");
    must("logs", "ticker");
    assert_has(h.said, "args one two");
    must("undeploy", "ticker");
}

/* ---- versions ---- */

static void a_version_that_fails_gives_way_to_the_one_before(void **state) {
    (void)state;
    use_dir("site");
    deploy_ok("site", "one", QUICK);
    assert_string_equal(ask("site").word, "one");
    deploy_ok("site", "two", QUICK);
    assert_has(h.said, "healthy, version 2");
    struct realservice_answer two = ask("site");
    assert_string_equal(two.word, "two");
    /* a program that is not there, one that ends, one that never answers: each is told, and two is back */
    static const struct {
        const char *keys, *said;
    } bad[] = {{"      health: {command: 'echo never; exit 1'}\n", "the probe ended with 1: never"},
               {"      health: {http: /, port: 1}\n", "port 1: connection refused"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(deploy("site", "bad", bad[i].keys, "--healthy-within 1s"), 1);
        assert_has(h.said, "site did not become healthy in time: ");
        assert_has(h.said, bad[i].said);
        assert_has(h.said, "rolled back to version 2");
        until("site", "healthy", "true");
        assert_string_equal(ask("site").word, "two");
        assert_int_equal(number_of("site", "version"), 2);
    }
    assert_false(realservice_was_twice(dir));
    must("undeploy", "site");
}

static void back_to(const char *args, const char *word, uint32_t version) {
    must("rollback", args);
    until("site", "healthy", "true");
    assert_string_equal(ask("site").word, word);
    assert_int_equal(number_of("site", "version"), version);
}

static void an_earlier_version_is_deployed_again(void **state) {
    (void)state;
    use_dir("site");
    deploy_ok("site", "one", QUICK);
    refused("rollback site", 6, "service site has no earlier version that was healthy");
    deploy_ok("site", "two", QUICK);
    assert_int_equal(deploy("site", "bad", "      health: {command: 'exit 1'}\n", "--healthy-within 1s"), 1);
    back_to("site", "one", 4); /* the third failed, and is not what a rollback without a number means */
    back_to("site 2", "two", 5);
    must("services", "site");
    assert_has(h.said, "VERSION  STATE    DEPLOYED");
    assert_has(h.said, "\n5        current  ");
    assert_has(h.said, "\n3        failed   ");
    refused("rollback site 5", 6, "version 5 of service site is the current one: restart it, or choose another");
    refused("rollback site 9", 5, "service site has no version 9; it remembers 1 to 5");
    refused("rollback site two", 2, "expected the number of a version, found `two`; `reeve services site` lists them");
    refused("rollback nosuch", 5, "there is no service nosuch");
    realserver_kill(&server);
    realserver_start(&server);
    back_to("sit 1", "one", 6); /* a beginning of the name will do, as with all verbs */
    assert_int_equal(realshell_run(&h, HERE, "rollback site 3"), 1); /* it is as bad as it was */
    assert_has(h.said, "reeve rollback: site did not become healthy in time");
    assert_has(h.said, "reeve rollback: rolled back to version 6");
    until("site", "healthy", "true");
    must("rollback", "site 2 -d"); /* the flow that deploys, which says to which version it goes back */
    char args[64];
    snprintf(args, sizeof args, "%.*s --json", (int)strcspn(h.said, "\n"), h.said);
    must("show", args);
    assert_has(h.said, "\"labels\":{\"rollback\":\"2\"}");
    until("site", "version", "8");
    until("site", "healthy", "true");
    assert_string_equal(ask("site").word, "two");
    assert_false(realservice_was_twice(dir));
    must("undeploy", "site");
}

static void a_first_version_that_ends_is_told_with_its_reason(void **state) {
    (void)state;
    char path[192];
    snprintf(path, sizeof path, "%s/crash.sh", server.data);
    FILE *f = fopen(path, "we");
    fprintf(f, "exit 7\n");
    (void)fclose(f);
    char args[256];
    snprintf(args, sizeof args, "deploy %s --healthy-within 1s", path);
    refused(args, 1, "crash did not become healthy in time: it ended with exit code 7");
    assert_has(h.said, "reeve deploy: there is no earlier version: service crash does not run");
    refused("services crash", 5, "there is no service crash");
    snprintf(args, sizeof args, "deploy %s --healthy-within 1s --json", path);
    refused(args, 1, "\"state\":\"failed\",\"cause\":\"unhealthy\",\"text\":\"it ended with exit code 7\"");
}

/* The version is forgotten when its deployment has failed; what it wrote, also when it was stopped, and why it failed
 * are still told of the job. */
static void what_a_failed_deployment_wrote_can_still_be_read(void **state) {
    (void)state;
    char id[32], args[256];
    deploy_script("mute", "trap \"echo last words; exit 0\" TERM; echo first words; while :; do sleep 0.1; done",
                  "      port: auto\n      healthy_within: 1s\n", "-d");
    snprintf(id, sizeof id, "%.*s", (int)strcspn(h.said, "\n"), h.said);
    snprintf(args, sizeof args, "wait %s", id);
    refused(args, 1, "failed");
    snprintf(args, sizeof args, "%s/mute", id);
    must("why", args);
    assert_has(h.said, "the job has finished: failed, the service that it deploys did not become healthy in time");
    for (int ms = 0; must("logs", args), strstr(h.said, "last words") == NULL; ms += 20) {
        if (ms > WAIT_MS) fail_msg("the log of the service is not there: %s", h.said);
        (void)poll(NULL, 0, 20);
    }
    assert_has(h.said, "first words\n");
    refused("services mute", 5, "there is no service mute");
    realserver_kill(&server);
    realserver_start(&server);
    must("logs", args);
    assert_has(h.said, "first words\n");
    assert_has(h.said, "last words\n");
}

/* What `verb` says of the job, once it says these words. */
static void until_said(const char *verb, const char *job, const char *words) {
    for (int ms = 0; must(verb, job), strstr(h.said, words) == NULL; ms += 20) {
        if (ms > WAIT_MS) fail_msg("reeve %s never says %s: %s", verb, words, h.said);
        (void)poll(NULL, 0, 20);
    }
}

/* While the job waits for health, and when it has failed, also after a restart of the server. */
static void the_job_that_deploys_tells_why_its_service_is_not_healthy(void **state) {
    (void)state;
    static const struct {
        const char *name, *script, *keys, *waits, *failed;
    } kinds[] = {
        {"silent", "exec sleep 1000", "      port: auto\n      healthy_within: 4s\n", "last probe: port ",
         ": connection refused"},
        {"ending", "exit 7", "      restart: {base: 20ms, cap: 100ms}\n      healthy_within: 4s\n",
         "last attempt: it ended with exit code 7", "last attempt: it ended with exit code 7"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char id[32], job[64], args[64];
        deploy_script(kinds[i].name, kinds[i].script, kinds[i].keys, "-d");
        snprintf(id, sizeof id, "%.*s", (int)strcspn(h.said, "\n"), h.said);
        snprintf(job, sizeof job, "%s/%s", id, kinds[i].name);
        until_said("why", job, kinds[i].waits);
        assert_has(h.said, "the deployed service is not healthy yet");
        until_said("show", job, kinds[i].waits);
        snprintf(args, sizeof args, "wait %s", id);
        refused(args, 1, "failed");
        for (int again = 0; again < 2; again++) {
            must("why", job);
            assert_has(h.said, kinds[i].waits);
            assert_has(h.said, kinds[i].failed);
            must("show", job);
            assert_has(h.said, kinds[i].failed);
            if (again == 0) realserver_kill(&server), realserver_start(&server);
        }
    }
}

/* A socket of this test's that listens at this port, and at any if it is 0; -1 = the port is taken. */
static int listen_at(uint32_t *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    at.sin_port = htons((uint16_t)*port);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    if (bind(fd, (struct sockaddr *)&at, len) != 0 || listen(fd, 128) != 0) {
        (void)close(fd);
        return -1;
    }
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

static int listen_somewhere(uint32_t *ret_port) {
    *ret_port = 0;
    int fd = listen_at(ret_port);
    assert_true(fd >= 0);
    return fd;
}

static const char *held_words(uint32_t port) {
    static char words[96];
    snprintf(words, sizeof words, "port %u is held by process %u (", port, (uint32_t)getpid());
    return words;
}

/* Who answers at the port was there before: the service is not healthy, whether its process stays or ends. */
static void a_port_that_someone_else_holds_is_not_the_service(void **state) {
    (void)state;
    static const char *const scripts[] = {"exec sleep 1000", "sleep 0.5; exit 98"};
    char keys[256], words[96];
    uint32_t port = 0;
    int fd = listen_somewhere(&port);
    snprintf(keys, sizeof keys,
             "      port: %u\n      healthy_within: 2s\n  after: {needs: held, run: touch %s/after}\n", port,
             server.data);
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        refused(script_args("deploy ", "held", scripts[i], keys, ""), 1, "held did not become healthy in time: ");
        if (i == 0) assert_has(h.said, held_words(port));
        if (i == 0) assert_has(h.said, "), not by this service");
        snprintf(words, sizeof words, "%s/after", server.data);
        assert_int_not_equal(access(words, F_OK), 0);
    }
    (void)close(fd);
}

static void until_file(const char *file) {
    char path[192];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    for (int ms = 0; access(path, F_OK) != 0; ms += 20) {
        if (ms > WAIT_MS) fail_msg("there never is %s", path);
        (void)poll(NULL, 0, 20);
    }
}

/* Who answers took the port while the service was starting. */
static void a_port_that_is_taken_after_the_start_is_not_the_service(void **state) {
    (void)state;
    char text[256], keys[96], id[32];
    uint32_t port = 0;
    use_dir("late");
    (void)close(listen_somewhere(&port));
    snprintf(text, sizeof text, "touch %s/started; exec sleep 1000", dir);
    snprintf(keys, sizeof keys, "      port: %u\n      healthy_within: 5s\n", port);
    deploy_script("late", text, keys, "-d");
    snprintf(id, sizeof id, "%.*s", (int)strcspn(h.said, "\n"), h.said);
    until_file("started");
    int fd = listen_at(&port);
    assert_true(fd >= 0);
    until("late", "text", held_words(port));
    snprintf(text, sizeof text, "wait %s", id);
    refused(text, 1, "failed");
    (void)close(fd);
}

/* Who answers took the port of a service that was healthy and no longer listens; when it lets go, all is well again. */
static void a_port_that_a_healthy_service_lost_is_not_the_service(void **state) {
    (void)state;
    use_dir("lost");
    deploy_ok("lost", "v1", "      health: {tcp: true, interval: 300ms, threshold: 3}\n" QUICK);
    uint32_t port = number_of("lost", "port");
    int fd = -1;
    touch("deaf", true);
    for (int ms = 0; (fd = listen_at(&port)) < 0; ms += 5) {
        if (ms > WAIT_MS) fail_msg("the service never lets go of port %u", port);
        (void)poll(NULL, 0, 5);
    }
    char job[64];
    until("lost", "restarts", "1");
    snprintf(job, sizeof job, "%s", value_of("lost", "job"));
    must("show", job);
    assert_has(h.said, held_words(port));
    (void)close(fd);
    touch("deaf", false);
    until("lost", "healthy", "true");
    must("undeploy", "lost");
}

static void what_needs_a_service_begins_when_it_is_healthy(void **state) {
    (void)state;
    use_dir("parent");
    touch("deaf", true);
    assert_int_equal(deploy("parent", "v1",
                            "      healthy_within: 20s\n"
                            "  after: {needs: parent, run: 'test -s @/starts && test ! -e @/deaf'}\n",
                            "-d"),
                     0);
    char flow[32];
    snprintf(flow, sizeof flow, "%.*s", (int)strcspn(h.said, "\n"), h.said);
    until("parent", "text", "port"); /* looked at, and nobody listens */
    touch("deaf", false);
    must("wait", flow);
    must("undeploy", "parent");
}

/* ---- what people ask ---- */

static void stop_start_and_restart(void **state) {
    (void)state;
    use_dir("told");
    deploy_ok("told", "v1", QUICK);
    pid_t pid = ask("told").pid;
    must("restart", "told");
    assert_has(h.said, "told  healthy, version 1");
    assert_false(is_alive(pid));
    pid = ask("told").pid;
    assert_int_equal(number_of("told", "restarts"), 1);
    must("stop", "told");
    assert_string_equal(h.said, "told stopped\n");
    assert_false(is_alive(pid)); /* it was waited for */
    assert_string_equal(value_of("told", "state"), "stopped");
    must("stop", "told"); /* it is so already */
    refused("restart told", 6, "is not running: start it");
    must("services", "");
    assert_has(h.said, "SERVICE");
    assert_has(h.said, "stopped");
    must("start", "tol"); /* a beginning will do */
    assert_int_equal(ask("told").status, 200);
    must("start", "told");
    must("services", "--json");
    assert_has(h.said, "\"name\":\"told\",\"state\":\"running\"");
    must("undeploy", "told");
    assert_string_equal(h.said, "told removed\n");
    assert_false(realservice_was_twice(dir));
}

static void nonsense_is_refused_in_words(void **state) {
    (void)state;
    char path[192], args[256];
    snprintf(path, sizeof path, "%s/flow.yaml", server.data);
    FILE *f = fopen(path, "we");
    fprintf(f, "jobs: {a: echo x}\n");
    (void)fclose(f);
    snprintf(args, sizeof args, "deploy %s", path);
    refused(args, 2, "contains no service: use `reeve submit`");
    refused("deploy /nowhere/x.sh", 5, "/nowhere/x.sh: No such file");
    refused("deploy /etc/hostname --port 99999", 2, "expected a port between 1 and 65535, or auto");
    refused("deploy /etc/hostname --health /x", 2, "--health needs --port");
    refused("deploy /etc/hostname --name odd --healthy-within 1s", 1, "no interpreter for script `hostname`");
    refused("stop nobody", 5, "there is no service nobody");
    refused("logs nobody", 5, "there is no flow nobody");
}

/* ---- servers and workers that go ---- */

static void a_new_server_adopts_what_runs(void **state) {
    (void)state;
    use_dir("kept");
    deploy_ok("kept", "v1", QUICK);
    struct realservice_answer before = ask("kept");
    realserver_kill(&server);
    assert_int_equal(realservice_ask(0).status, 0);
    realserver_start(&server);
    until("kept", "healthy", "true");
    struct realservice_answer after = ask("kept");
    assert_int_equal(after.pid, before.pid);
    assert_int_equal(after.attempt, before.attempt);
    /* its worker is back and still looks after it */
    must("restart", "kept");
    assert_int_equal(number_of("kept", "restarts"), 1);
    assert_int_equal(realservice_starts(dir), 2);
    must("undeploy", "kept");
}

static void a_worker_that_dies_takes_it_along_and_it_starts_elsewhere(void **state) {
    (void)state;
    use_dir("moved");
    deploy_ok("moved", "v1", QUICK);
    realworker_start(&second, &server);
    realworker_kill(&first); /* fails when something of it lives on */
    until("moved", "worker", "second");
    until("moved", "healthy", "true");
    assert_int_equal(number_of("moved", "restarts"), 1);
    /* and back, by a drain */
    realworker_start(&first, &server);
    pid_t pid = ask("moved").pid;
    char worker[64];
    snprintf(worker, sizeof worker, "%s", value_of("moved", "worker"));
    must("drain", worker);
    until("moved", "worker", "first");
    until("moved", "healthy", "true");
    assert_false(is_alive(pid));
    assert_int_equal(ask("moved").status, 200);
    assert_int_equal(realservice_starts(dir), 3);
    assert_false(realservice_was_twice(dir));
    must("undeploy", "moved");
    assert_int_equal(realworker_stop(&second), 0);
}

/* A worker that is told to go while no server is there does not wait for what never ends. */
static void a_worker_that_goes_ends_its_services(void **state) {
    (void)state;
    use_dir("alone");
    deploy_ok("alone", "v1", QUICK);
    pid_t pid = ask("alone").pid;
    assert_int_equal(realworker_stop(&first), 0);
    assert_false(is_alive(pid));
    realworker_start(&first, &server);
    until("alone", "healthy", "true");
    pid = ask("alone").pid;
    realserver_kill(&server);
    assert_int_equal(realworker_stop(&first), 0);
    assert_false(is_alive(pid));
    realserver_start(&server);
    realworker_start(&first, &server);
    until("alone", "restarts", "2"); /* so long the server believes what it heard last */
    until("alone", "healthy", "true");
    assert_int_equal(realservice_starts(dir), 3);
    must("undeploy", "alone");
}

/* ---- logs ---- */

static void logs_go_on_across_restarts_and_versions(void **state) {
    (void)state;
    char command[512], text[4096];
    use_dir("told-of");
    deploy_ok("told-of", "one", QUICK);
    snprintf(command, sizeof command, "timeout 60 %s logs -f told-of --data %s 2>&1", realserver_binary(), server.data);
    FILE *f = popen(command, "re");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    assert_string_equal(text, "one begins, attempt 1\n");
    assert_int_equal(kill(ask("told-of").pid, SIGKILL), 0);
    assert_non_null(fgets(text, sizeof text, f));
    assert_has(text, "reeve: attempt 2 of ");
    assert_non_null(fgets(text, sizeof text, f));
    assert_string_equal(text, "one begins, attempt 2\n");
    until("told-of", "healthy", "true");
    deploy_ok("told-of", "two", QUICK);
    assert_non_null(fgets(text, sizeof text, f));
    assert_has(text, "reeve: attempt 1 of ");
    assert_non_null(fgets(text, sizeof text, f));
    assert_string_equal(text, "two begins, attempt 1\n");
    must("undeploy", "told-of");
    assert_null(fgets(text, sizeof text, f)); /* it is gone: so is its log */
    assert_int_equal(pclose(f), 0);
}

static void the_newest_of_a_long_log_can_be_read_while_it_runs(void **state) {
    (void)state;
    deploy_script("chatty", "seq 10000; echo the last; exec sleep 1000", "    log_limit: 4KiB\n", "");
    char command[256], line[256];
    bool first_is_there = false, last_is_there = false;
    snprintf(command, sizeof command, "timeout 60 %s logs -f chatty --data %s 2>&1", realserver_binary(), server.data);
    FILE *f = popen(command, "re");
    assert_non_null(f);
    while (!last_is_there && fgets(line, sizeof line, f) != NULL) {
        first_is_there |= strcmp(line, "1\n") == 0;
        last_is_there = strcmp(line, "the last\n") == 0;
    }
    assert_true(first_is_there && last_is_there);
    must("logs", "chatty --tail 40");
    assert_has(h.said, "10000\nthe last\n");
    must("undeploy", "chatty");
    (void)pclose(f);
}

/* The probe is in a sandbox as its service is: else it would see the worker's token, and never find it well. */
static void a_probe_of_a_service_in_a_sandbox_is_in_one(void **state) {
    (void)state;
    must("workers", "--json");
    if (strstr(h.said, "\"sandbox\"") == NULL) {
        printf("this machine keeps no sandboxes: the worker, which tried, does not offer them\n");
        skip();
    }
    char keys[384];
    snprintf(keys, sizeof keys,
             "      health: {command: 'test ! -e %s/worker.token && touch here', interval: 50ms, threshold: 2}\n"
             "    sandbox: strict\n",
             server.data);
    deploy_script("boxed", "echo mine >mine; while test -e mine; do sleep 0.1; done; echo taken away", keys,
                  "--healthy-within 10s");
    assert_has(h.said, "boxed  healthy");
    must("restart", "boxed");
    assert_int_equal(number_of("boxed", "restarts"), 1);
    must("logs", "boxed");
    assert_string_equal(h.said, ""); /* the probe has not touched its files */
    must("undeploy", "boxed");
}

static void logs_of_attempts_long_ago_leave(void **state) {
    (void)state;
    deploy_script("crashy", "echo attempt $REEVE_ATTEMPT; test $REEVE_ATTEMPT -gt 1 || sleep 2; exit 1",
                  "      restart: {base: 1ms, cap: 1ms}\n", "");
    for (int ms = 0; number_of("crashy", "restarts") < 20; ms += 20) {
        if (ms > WAIT_MS) fail_msg("%s", h.said);
        (void)poll(NULL, 0, 20);
    }
    must("stop", "crashy");
    uint32_t last = number_of("crashy", "attempt");
    char args[64], wanted[32];
    must("logs", "crashy --attempt 1");
    assert_has(h.said, "attempt 1\n");
    realserver_kill(&server);
    realserver_start(&server); /* sweeps when it starts, and every hour */
    for (int ms = 0; realshell_run(&h, HERE, "logs crashy --attempt 1") == 0 && h.said[0] != 0; ms += 20) {
        if (ms > WAIT_MS) fail_msg("%s", h.said);
        (void)poll(NULL, 0, 20);
    }
    snprintf(args, sizeof args, "crashy --attempt %u", last);
    snprintf(wanted, sizeof wanted, "attempt %u\n", last);
    must("logs", args);
    assert_has(h.said, wanted);
    must("undeploy", "crashy");
}

int main(int argc, char **argv) {
    realservice_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_probe_finds_it_healthy),
        cmocka_unit_test(what_becomes_unhealthy_is_started_again),
        cmocka_unit_test(a_service_without_a_port_is_healthy_when_it_stays),
        cmocka_unit_test(a_version_that_fails_gives_way_to_the_one_before),
        cmocka_unit_test(an_earlier_version_is_deployed_again),
        cmocka_unit_test(a_first_version_that_ends_is_told_with_its_reason),
        cmocka_unit_test(what_a_failed_deployment_wrote_can_still_be_read),
        cmocka_unit_test(the_job_that_deploys_tells_why_its_service_is_not_healthy),
        cmocka_unit_test(a_port_that_someone_else_holds_is_not_the_service),
        cmocka_unit_test(a_port_that_is_taken_after_the_start_is_not_the_service),
        cmocka_unit_test(a_port_that_a_healthy_service_lost_is_not_the_service),
        cmocka_unit_test(what_needs_a_service_begins_when_it_is_healthy),
        cmocka_unit_test(stop_start_and_restart),
        cmocka_unit_test(nonsense_is_refused_in_words),
        cmocka_unit_test(a_new_server_adopts_what_runs),
        cmocka_unit_test(a_worker_that_dies_takes_it_along_and_it_starts_elsewhere),
        cmocka_unit_test(a_worker_that_goes_ends_its_services),
        cmocka_unit_test(logs_go_on_across_restarts_and_versions),
        cmocka_unit_test(the_newest_of_a_long_log_can_be_read_while_it_runs),
        cmocka_unit_test(a_probe_of_a_service_in_a_sandbox_is_in_one),
        cmocka_unit_test(logs_of_attempts_long_ago_leave),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
