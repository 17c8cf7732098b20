/* mcp_test.c: the gateway for agents on the command line, and the example of an agent, killed after each thing it says.
 * What its tools do is tested with the official client, in tests/mcp/. */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"

static struct realcli *const r = &realcli_group;

#define HELLO                                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"," \
    "\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"                               \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define CALL(id, tool, args)                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool \
    "\",\"arguments\":" args "}}\n"

static uint32_t lines_of(const char *text) {
    uint32_t count = 0;
    for (; *text != 0; text++) count += *text == '\n';
    return count;
}

static void each_line_is_a_message_and_so_is_each_answer(void **state) {
    (void)state;
    struct ran ran = realcli_run(r, "mcp", NULL,
                                 HELLO "\n" CALL("2", "ping_master", "{}") "what\n" CALL("3", "nope", "{}")
                                     CALL("4", "workers", "{\"most\":1}"));
    assert_int_equal(ran.exit_code, 0);
    assert_string_equal(ran.err, "");
    assert_int_equal(lines_of(ran.out), 5);
    assert_has(ran.out, "\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\"");
    assert_has(ran.out, "\"structuredContent\":{\"status\":\"ok\"");
    assert_has(ran.out, "\"id\":null,\"error\":{\"code\":-32700");
    assert_has(ran.out, "\"id\":3,\"error\":{\"code\":-32602");
    assert_has(ran.out, "\"structuredContent\":{\"workers\":[");
}

static void the_last_line_needs_no_end(void **state) {
    (void)state;
    struct ran ran = realcli_run(r, "mcp", NULL, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}");
    assert_int_equal(ran.exit_code, 0);
    assert_string_equal(ran.out, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}\n");
    ran = realcli_run(r, "mcp", NULL, "");
    assert_int_equal(ran.exit_code, 0);
    assert_string_equal(ran.out, "");
    realcli_refused(r, "mcp now", 2, "mcp");
}

/* ---- modules ---- */

static void a_script_imports_what_came_with_the_program(void **state) {
    (void)state;
    struct ran ran = realcli_run(
        r, "mcp", NULL,
        CALL("1", "submit_single_job", "{\"job_id\":\"i\",\"script_content\":\"import reeve; print(reeve.WORD)\"}"));
    assert_has(ran.out, "submitted");
    ran = realcli_run(r, "mcp", NULL, CALL("2", "wait", "{\"target\":\"i\",\"timeout_s\":60}"));
    assert_has(ran.out, "succeeded");
    ran = realcli_run(r, "mcp", NULL, CALL("3", "get_job_logs", "{\"job_id\":\"i\"}"));
    assert_has(ran.out, "imported");
}

/* ---- the example ---- */

struct agent {
    pid_t pid;
    FILE *said;
};

static struct agent agent_start(void) {
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("REEVE_DATA", r->data, 1);
        setenv("REEVE_EXE", realserver_binary(), 1);
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        execlp("python3", "python3", "examples/mcp-agent.py", "run-7", "to", "be", "or", "not", "to", "be", NULL);
        _exit(127);
    }
    close(fds[1]);
    return (struct agent){pid, fdopen(fds[0], "re")};
}

/* Lines up to the one that begins so; the last one read. */
static const char *agent_says(const struct agent *a, const char *words) {
    static char line[256];
    do {
        if (fgets(line, sizeof line, a->said) == NULL) fail_msg("the agent ended before it said: %s", words);
    } while (strstr(line, words) == NULL);
    line[strcspn(line, "\n")] = 0;
    return line;
}

static int agent_end(const struct agent *a, int sig) {
    int status = 0;
    if (sig != 0) kill(a->pid, sig);
    fclose(a->said);
    assert_int_equal(waitpid(a->pid, &status, 0), a->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void an_agent_grows_its_flow_and_survives_being_killed(void **state) {
    static const char *const moments[] = {"run-7 is ", "words to count", "the report: ", "waiting for: "};
    char id[64] = "";
    (void)state;
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
        struct agent a = agent_start();
        const char *line = agent_says(&a, "run-7 is ");
        if (i == 0) snprintf(id, sizeof id, "%s", line + strlen("run-7 is "));
        assert_string_equal(line + strlen("run-7 is "), id); /* it finds what it began */
        if (i > 0) (void)agent_says(&a, moments[i]);
        assert_int_equal(agent_end(&a, SIGKILL), 128 + SIGKILL);
    }
    struct agent a = agent_start();
    assert_string_equal(agent_says(&a, "the report: "), "the report: 4 words, 9 letters");
    (void)agent_says(&a, "waiting for: ");
    (void)realcli_ok(r, "approve --yes %s", realcli_at("@/decide", id));
    assert_string_equal(agent_says(&a, "it ended"), "it ended: succeeded");
    assert_int_equal(agent_end(&a, 0), 0);
    const char *shown = realcli_ok(r, "show --json %s", id).out;
    assert_has(shown, "\"job_count\":8");
    assert_null(strstr(shown, "\"attempt\":2")); /* nothing ran twice */
    const char *listed = realcli_ok(r, "ls --json --label agent_run_id=run-7", NULL).out;
    assert_int_equal(lines_of(listed), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_a_message_and_so_is_each_answer),
        cmocka_unit_test(the_last_line_needs_no_end),
        cmocka_unit_test(a_script_imports_what_came_with_the_program),
        cmocka_unit_test(an_agent_grows_its_flow_and_survives_being_killed),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    setenv("REEVE_PYTHON_PATH", "tests/e2e/modules", 1); /* of the worker that `up` starts */
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
