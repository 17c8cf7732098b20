/* context_test.c: servers by name: which server a command talks to, and who gets to see a token. */
#include "test.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realserver.h"

static struct realserver server;
static char root[] = "/tmp/reeve-context-XX"
                     "XX"
                     "XX"; /* root/home, root/work; commands run in the latter */
static char said[1 << 16];

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    memset(root + sizeof root - 7, 'X', 6);
    assert_non_null(mkdtemp(root));
    return test_shell(said, sizeof said, "mkdir %s/home %s/work && printf '%%s\\n' %s >%s/token", root, root,
                      server.admin, root);
}

static int teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    return test_shell(said, sizeof said, "rm -r %s", root);
}

/* `SCRIPT` in root/work, where `reeve` is the program, $S the address of the server, $F the file of contexts. */
static int sh(const char *script) {
    return test_shell(
        said, sizeof said,
        "cd %s/work && umask 022 && unset REEVE_SERVER REEVE_DATA REEVE_TOKEN REEVE_CONTEXT XDG_CONFIG_HOME\n"
        "export HOME=%s/home S=%s F=%s/home/.config/reeve/contexts.json\n"
        "reeve() { timeout 30 %s \"$@\"; }\n{ %s\n} 2>&1",
        root, root, server.address, root, realserver_binary(), script);
}

static void must(const char *script) {
    int code = sh(script);
    if (code != 0) fail_msg("%s: exit %d: %s", script, code, said);
}

static void refused(const char *script, int code, const char *words) {
    int got = sh(script);
    if (got != code || strstr(said, words) == NULL)
        fail_msg("%s: exit %d, said: %s\n  expected %d and: %s", script, got, said, code, words);
}

static void a_context_is_a_server_with_its_token(void **state) {
    (void)state;
    must("reeve context add dev --server $S --token ../token");
    assert_string_equal(said, "dev added\n");
    must("reeve ls --context dev && REEVE_CONTEXT=dev reeve ls");
    refused("reeve ls", 8, "no server is running on .reeve");
    must("reeve context use dev && reeve ls");
    assert_has(said, "dev in use\n");
    must("reeve context add dev --server $S --token - <../token && reeve ls");
    assert_has(said, "dev replaced\n");
    must("reeve context rm dev");
    assert_string_equal(said, "dev removed; no context is in use now\n");
    refused("reeve ls", 8, "no server is running on .reeve");
    refused("reeve ls --context dev", 5, "there is no context dev; `reeve context ls` lists contexts");
}

static void lists_have_no_tokens(void **state) {
    (void)state;
    must("reeve context add b --server tls://b.example --tls-ca ../token"
         " && reeve context add a --server $S --token ../token"
         " && reeve context use a");
    must("reeve context ls; reeve context ls --json; reeve context ls -o yaml; reeve context ls -o jsonl;"
         "reeve context add a --json --server $S --token ../token; reeve context use a --json");
    assert_has_not(said, server.admin);
    must("reeve context ls -o name");
    assert_string_equal(said, "a\nb\n");
    must("reeve context ls --json | jq -c '.contexts[] |"
         " [.name, .used, .has_token, (.tls_ca // \"\" | endswith(\"/token\"))]'");
    assert_string_equal(said, "[\"a\",true,true,false]\n[\"b\",null,null,true]\n");
    must("reeve context use --none --json && reeve context ls --json | jq -c '[.contexts[].used]'");
    assert_string_equal(said, "{}\n[null,null]\n");
}

/* A folder with a server of its own comes before the context in use, and behind what is named for one command. */
static void the_order_is_flags_environment_folder_context(void **state) {
    (void)state;
    must("reeve context add dev --server $S --token ../token && reeve context add none --server 127.0.0.1:1"
         " && reeve context use dev && mkdir -p .reeve deep");
    refused("reeve ls", 8, "or pass --context dev (in use, but .reeve comes first)");
    refused("cd deep && reeve ls", 8, "or pass --context dev (in use, but ../.reeve comes first)");
    must("reeve context use dev");
    assert_has(said, "in this folder .reeve comes first");
    must("reeve ls --context dev && REEVE_CONTEXT=dev reeve ls");
    refused("REEVE_CONTEXT=dev REEVE_SERVER=127.0.0.1:1 reeve ls", 8, "127.0.0.1:1");
    refused("REEVE_CONTEXT=dev reeve ls --context none", 8, "127.0.0.1:1");
    refused("REEVE_CONTEXT=dev reeve ls --data .reeve", 8, "no server is running on .reeve");
    refused("REEVE_DATA=.reeve REEVE_CONTEXT=none reeve ls", 8, "127.0.0.1:1");
    refused("reeve ls --context dev --server $S", 2, "pass it without --server and --data");
    must("rmdir .reeve && cd deep && reeve ls");
}

static void others_may_neither_read_nor_swap_the_file(void **state) {
    (void)state;
    struct stat st;
    char path[160];
    must("umask 0 && reeve context add dev --server $S --token ../token && reeve context use dev");
    snprintf(path, sizeof path, "%s/home/.config/reeve/contexts.json", root);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    *strrchr(path, '/') = 0;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    must("chmod 640 $F");
    refused("reeve ls", 4, "contexts.json holds tokens and others may read it: run `chmod 600 ");
    refused("reeve context add x --server h", 4, "run `chmod 600 ");
    refused("reeve context ls", 4, "run `chmod 600 ");
    must("reeve ls --server $S --data ../work; chmod 600 $F; reeve ls");
    refused("mv $F $F.real; ln -s $F.real $F; reeve ls", 4, "is a symbolic link: put the file itself there");
    refused("reeve context rm dev", 4, "is a symbolic link");
    must("test -L $F && rm $F && mv $F.real $F && reeve ls");
    refused("mkfifo $F.fifo && mv $F $F.real && mv $F.fifo $F; reeve ls", 4, "is not a file");
    must("rm $F && echo '{\"contexts\":[{\"name\":\"x\"}]}' >$F && chmod 600 $F");
    refused("reeve context ls", 2, "a context needs a name and a server");
    refused("echo nonsense >$F; reeve context ls", 2, "contexts.json: ");
}

static void a_token_is_no_argument(void **state) {
    (void)state;
    char script[256];
    snprintf(script, sizeof script, "reeve context add dev --server $S --token %s", server.admin);
    refused(script, 5, "expected a file with the token, or - for standard input");
    assert_has_not(said, server.admin);
    refused("echo 'two words' | reeve context add dev --server $S --token -", 2, "the first line is not a token");
    refused("reeve context add dev --server $S --token /dev/null", 2, "the first line is not a token");
}

/* What `reeve ARGS` sends first to somebody who listens and is no server. $P is his port. */
static const char *sent(const char *args) {
    static char bytes[4096];
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 1) == 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char script[512];
        snprintf(script, sizeof script, "P=%u; %s", ntohs(a.sin_port), args);
        _exit(sh(script) & 127);
    }
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 30000), 1);
    int peer = accept(fd, NULL, NULL);
    ssize_t n = recv(peer, bytes, sizeof bytes - 1, 0);
    assert_true(n > 0);
    for (ssize_t i = 0; i < n; i++)
        if (bytes[i] == 0) bytes[i] = ' ';
    bytes[n] = 0;
    close(peer);
    close(fd);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return bytes;
}

static void a_token_goes_to_its_server_only(void **state) {
    (void)state;
    must("reeve context add dev --server $S --token ../token && reeve context use dev");
    assert_has_not(sent("reeve ls --server 127.0.0.1:$P"), server.admin);
    assert_has_not(sent("REEVE_SERVER=127.0.0.1:$P reeve ls"), server.admin);
    assert_has_not(sent("REEVE_CONTEXT=dev reeve ls --server 127.0.0.1:$P"), server.admin);
    assert_has_not(sent("printf 'ls --server 127.0.0.1:%s\\n' $P | reeve shell"), server.admin);
    assert_has(sent("reeve context add it --server 127.0.0.1:$P --token ../token; reeve ls --context it"),
               server.admin);
    const char *both =
        sent("reeve context add it --server 127.0.0.1:$P --token ../token; REEVE_TOKEN=other reeve ls --context it");
    assert_has(both, server.admin);
    assert_has_not(both, "other");
    assert_has(sent("reeve context add it --server 127.0.0.1:$P; REEVE_TOKEN=other reeve ls --context it"), "other");
}

/* What is put to use while a shell runs concerns what is started later. */
static void a_shell_stays_with_its_server(void **state) {
    (void)state;
    must("reeve context add dev --server $S --token ../token && reeve context add none --server 127.0.0.1:1"
         " && reeve context use dev");
    must("printf 'context use none\\nls\\nls --context dev\\n' | reeve shell");
    refused("printf 'ls --context none\\n' | reeve shell --context dev", 8, "127.0.0.1:1");
}

static void typical_mistakes_are_told(void **state) {
    (void)state;
    refused("reeve context add x", 2, "--server is missing: a context is a server, like --server tls://HOST");
    refused("reeve context add x --server http://h:7070/flows", 2, "write h:7070, or tls://h:7070");
    refused("reeve context add 'a b' --server h", 2, "cannot name a context");
    refused("reeve context add x --server h --tls-pin 12", 2, "expected a SHA-256 (64 hexadecimal digits)");
    refused("reeve context add x --server h --tls-ca nofile", 5, "--tls-ca: nofile: No such file");
    refused("reeve context use", 2, "expected one of NAME and --none");
    refused("reeve context use nosuch", 5, "there is no context nosuch; `reeve context ls` lists contexts");
    refused("HOME= reeve context ls", 6, "set HOME or XDG_CONFIG_HOME");
    must("XDG_CONFIG_HOME=$HOME/own reeve context add x --server h"
         " && test -f $HOME/own/reeve/contexts.json && ! test -e $F");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* What a real provider is needed for is in tests/oidc/cli.test.mjs. */
static void a_caller_hears_who_it_is_and_a_context_forgets_its_token(void **state) {
    (void)state;
    must("rm -f $F; reeve context add me --server $S --token ../token && reeve context use me && reeve whoami");
    assert_has(said, "admin\nroles: admin\ntenant: all\n");
    must("reeve whoami --json");
    assert_has(said, "\"name\":\"admin\"");
    refused("REEVE_TOKEN=rv_wrong reeve whoami --server $S", 4, "invalid token");
    refused("reeve login", 5, "the server has no identity provider for the command line");
    refused("reeve login new", 5, "there is no context new: to make one, pass --server");
    refused("reeve logout nobody", 5, "there is no context nobody");
    must("reeve logout");
    assert_has(said, "me: logged out");
    must("! grep -q rv_ $F");
    refused("reeve whoami", 4, "authentication required");
    must("reeve logout me");
    assert_has(said, "me: there was no token");
    refused("rm $F; reeve login", 2, "name a context, and its server if it is new");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_context_is_a_server_with_its_token),
        T(lists_have_no_tokens),
        T(the_order_is_flags_environment_folder_context),
        T(others_may_neither_read_nor_swap_the_file),
        T(a_token_is_no_argument),
        T(a_token_goes_to_its_server_only),
        T(a_shell_stays_with_its_server),
        T(typical_mistakes_are_told),
        T(a_caller_hears_who_it_is_and_a_context_forgets_its_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
