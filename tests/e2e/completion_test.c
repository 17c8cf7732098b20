/* completion_test.c: what Tab offers in bash, zsh and fish, by the real shells, beside a real server. */
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#include "realserver.h"

static struct realserver server;
static char said[1 << 16];

/* Programs and a shell in the directory of the server, which is named by the environment. */
static int sh(const char *script) {
    return test_shell(said, sizeof said,
                      "cd %s; export REEVE_SERVER=%s REEVE_TOKEN=%s HOME=$PWD PATH=$PWD:$PATH; unset XDG_CONFIG_HOME\n"
                      "tab() { timeout 20 reeve __complete \"reeve $1\"; }\n{ %s\n} 2>&1",
                      server.data, server.address, server.admin, script);
}

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    int code = test_shell(
        said, sizeof said,
        "ln -s %s %s/reeve && cd %s && echo 'jobs: {ask: {gate: {message: Go?}}, then: {run: x, needs: ask}}'"
        " >flow.yaml",
        realserver_binary(), server.data, server.data);
    assert_int_equal(code, 0);
    code = sh("reeve submit flow.yaml -n nightly-etl && reeve context add here --server $REEVE_SERVER"
              " && reeve kv set colour red"
              " && for s in bash zsh fish; do reeve completion $s >script.$s || exit 1; done");
    if (code != 0) fail_msg("%s", said);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    return 0;
}

static void offers(const char *line, const char *lines) {
    char script[512];
    snprintf(script, sizeof script, "tab '%s' | cut -f1", line);
    assert_int_equal(sh(script), 0);
    if (strcmp(said, lines) != 0) fail_msg("%s: offered\n%s  not\n%s", line, said, lines);
}

static void names_come_from_the_server(void **state) {
    (void)state;
    offers("logs f", "f11\n");
    offers("logs ", "f11\nnightly-etl\n");
    offers("logs nightly-etl/", "nightly-etl/ask\nnightly-etl/then\n");
    offers("logs @last/t", "@last/then\n");
    offers("logs f11/t", "f11/then\n");
    offers("wait f11 n", "nightly-etl\n");
    offers("get nigh", "nightly-etl/\n");
    offers("approve ", "f11/ask\n");
    offers("kv get c", "colour\n");
    offers("kv get --flow n", "nightly-etl\n");
    offers("context use ", "here\n");
    offers("ls --context h", "here\n");
    offers("submit --dr", "--dry-run\n");
    offers("ls --state canc", "cancelled\n");
    offers("ls --state=canc", "--state=cancelled\n");
    offers("ls -o j", "json\njsonl\n");
    offers("up --d", "--data\n--detach\n");
    offers("context a", "add\n");
}

static void files_are_offered_only_where_files_go(void **state) {
    (void)state;
    offers("submit f", ":files\n");
    offers("add n", ":files\nnightly-etl\n");
    offers("run -- ./", ":files\n");
    offers("ls --tls-ca x", ":files\n");
    offers("drain x", "");
    offers("ls f11 x", "");
    offers("logs --tail x", "");
}

/* An address that swallows packets, one that refuses, and a server that says nothing. */
static void nobody_waits_for_a_server_that_does_not_answer(void **state) {
    (void)state;
    offers("logs --server 192.0.2.1 f", "");
    offers("logs --server 127.0.0.1:1 f", "");
    offers("logs --server=http://x f", "");
    offers("logs --context nosuch f", "");
    int64_t begun_ms = test_mono_ms();
    assert_int_equal(
        sh("python3 -c 'import socket,subprocess as p\ns=socket.socket(); s.bind((\"127.0.0.1\",0)); s.listen()\n"
           "p.run([\"reeve\",\"__complete\",\"reeve logs --server 127.0.0.1:%d f\"%s.getsockname()[1]])'"),
        0);
    assert_string_equal(said, "");
    assert_true(test_mono_ms() - begun_ms < 15000); /* 300 ms, on a machine with nothing else to do */
}

static void bash_completes_names_and_files(void **state) {
    (void)state;
    assert_int_equal(sh("bash -c 'source ./script.bash; t() { COMP_LINE=$1; COMP_POINT=${#1}; _reeve reeve \"$2\" x;"
                        " echo ${COMPREPLY[*]}; }\n"
                        "t \"reeve logs ni\" ni; t \"reeve logs @la\" la; t \"reeve ls --state=canc\" canc;"
                        " t \"reeve submit fl\" fl; t \"reeve ls \" \"\"'"),
                     0);
    assert_string_equal(said, "nightly-etl\nlast\ncancelled\nflow.yaml\nf11 nightly-etl\n");
}

static void fish_completes_names_and_files(void **state) {
    (void)state;
    if (sh("command -v fish") != 0) skip();
    assert_int_equal(sh("fish -c 'source script.fish; complete -C \"reeve logs ni\"; complete -C \"reeve submit fl\";"
                        " complete -C \"reeve ls --state=canc\"; complete -C \"reeve drain x\"' | cut -f1"),
                     0);
    assert_string_equal(said, "nightly-etl\nflow.yaml\n--state=cancelled\n");
}

/* In a terminal of its own; each line is complete when the rest of the name has come. */
static void zsh_completes_names_and_files(void **state) {
    (void)state;
    if (sh("command -v zsh") != 0) skip();
    assert_int_equal(
        sh("cat >t.zsh <<'END'\n"
           "zmodload zsh/zpty\n"
           "zpty z zsh -f -i\n"
           "zpty -w z \"autoload -U compinit && compinit -u -D; source ./script.zsh; echo rea'dy'\"\n"
           "zpty -r z out '*ready*'\n"
           "tab() { zpty -w -n z \"$1\"$'\\t'; zpty -r z out \"*$2*\" && echo $1$2; zpty -w -n z $'\\x15'; }\n"
           "tab 'reeve logs nig' htly-etl\n"
           "tab 'reeve logs nightly-etl/th' en\n"
           "tab 'reeve ls --state canc' elled\n"
           "tab 'reeve submit fl' ow.yaml\n"
           "zpty -d z\n"
           "END\n"
           "TERM=dumb timeout 60 zsh -f t.zsh"),
        0);
    assert_string_equal(said, "reeve logs nightly-etl\nreeve logs nightly-etl/then\nreeve ls --state cancelled\n"
                              "reeve submit flow.yaml\n");
}

#define T(name) cmocka_unit_test(name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(names_come_from_the_server),
        T(files_are_offered_only_where_files_go),
        T(nobody_waits_for_a_server_that_does_not_answer),
        T(bash_completes_names_and_files),
        T(fish_completes_names_and_files),
        T(zsh_completes_names_and_files),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
