/* cli_test.c: the command line, as people use it: a server and a worker by `reeve up`, every verb, and what is said to
 * bad input. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"

static struct realcli *const r = &realcli_group;

static const char *submit(const char *text, const char *flags) {
    return realcli_submit(r, text, flags);
}

/* The arguments with the id in place of each @; it must end well. */
static struct ran with(const char *args, const char *id) {
    return realcli_ok(r, realcli_at(args, id), NULL);
}

/* ---- run ---- */

static void run_shows_output_and_exits_as_the_job(void **state) {
    (void)state;
    struct ran ran = realcli_ok(r, "run -- echo hello world", NULL);
    assert_string_equal(ran.out, "hello world\n");
    ran = realcli_run(r, "run -- sh -c %s", "echo out; echo err >&2; exit 7", NULL);
    assert_int_equal(ran.exit_code, 7);
    assert_string_equal(ran.out, "out\n");
    assert_has(ran.err, "err\n");
    assert_int_equal(realcli_run(r, "run sh -c %s", "kill -9 $$", NULL).exit_code, 137);
    assert_int_equal(realcli_run(r, "run --timeout 200ms -- sleep 60", NULL, NULL).exit_code, 124);
    ran = realcli_run(r, "run -- /no/such/program", NULL, NULL);
    assert_int_equal(ran.exit_code, 125);
    assert_has(ran.err, "there is no program");
}

/* Each line is a write of its own, and there are more of them than extents that the store keeps of one log. */
static void lines_that_are_flushed_one_by_one_are_all_kept(void **state) {
    (void)state;
    enum { LINES = 300000 };
    struct ran ran = realcli_ok(r, "run -- python3 -u -c %s", "for i in range(300000): print(i)");
    char *at = ran.out;
    for (long i = 0; i < LINES; i++) {
        if (strtol(at, &at, 10) != i || *at != '\n') fail_msg("line %ld is %.20s", i, at);
        at++;
    }
    assert_int_equal(*at, 0);
}

static void run_is_tried_once_unless_said(void **state) {
    (void)state;
    char script[128];
    snprintf(script, sizeof script, "echo x >> %s/count; exit 1", r->data);
    assert_int_equal(realcli_run(r, "run sh -c %s", script, NULL).exit_code, 1);
    char path[96];
    snprintf(path, sizeof path, "%s/count", r->data);
    FILE *f = fopen(path, "re");
    char line[8];
    int count = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) count++;
    if (f != NULL) fclose(f);
    assert_int_equal(count, 1);
}

static void run_passes_input_and_environment(void **state) {
    (void)state;
    struct ran ran = realcli_run(r, "run --stdin - -e WHO=me sh -c %s", "cat; echo $WHO", "from here\n");
    assert_string_equal(ran.out, "from here\nme\n");
    static char large[200001];
    memset(large, 'x', sizeof large - 1);
    ran = realcli_run(r, "run --stdin - wc -c", NULL, large); /* as a blob */
    assert_has(ran.out, "200000");
    ran = realcli_ok(r, "run --json echo hi", NULL);
    assert_has(ran.out, "\"stream\":\"out\"");
    assert_has(ran.out, "\"state\":\"succeeded\"");
}

/* ---- events ---- */

static uint32_t lines(const char *text) {
    uint32_t n = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++) n++;
    return n;
}

static void what_happened_is_told(void **state) {
    (void)state;
    char id[64], job[96], position[64];
    snprintf(id, sizeof id, "%s", submit("jobs: {a: {noop: true}, b: {noop: true, needs: a}}", "-w"));
    struct ran ran = with("events --flow @ --json", id);
    assert_int_equal(lines(ran.out), 8); /* two of the flow, three of each job */
    assert_memory_equal(ran.out, "{\"type\":\"flow\",\"position\":\"", 27);
    snprintf(position, sizeof position, "%.*s", (int)strcspn(ran.out + 27, "\""), ran.out + 27);
    snprintf(job, sizeof job, "\"target\":\"%s/b\",\"from\":\"dispatched\",\"to\":\"succeeded\"", id);
    assert_has(ran.out, job);
    assert_int_equal(lines(with("events --flow @/b --json", id).out), 3);
    assert_int_equal(lines(with("events --flow @ --type flow --json", id).out), 2);
    char args[128];
    snprintf(args, sizeof args, "events --flow @ --since %s", position); /* all but the first */
    ran = with(args, id);
    assert_int_equal(lines(ran.out), 7);
    assert_has(ran.out, "succeeded");
    assert_has(ran.out, "attempt 1 on ");
    realcli_refused(r, "events --type jobs", 2, "there are no events of type `jobs`");
    realcli_refused(r, "events --since x", 2, "position");
    realcli_refused(r, "events --flow f9zzz", 5, "f9zzz");
}

/* ---- submit ---- */

static void a_key_is_submitted_once(void **state) {
    (void)state;
    char first[64];
    snprintf(first, sizeof first, "%s", submit("jobs: {a: 'true'}", "-k once"));
    assert_string_equal(first, submit("jobs: {a: 'true'}", "-k once"));
    (void)realcli_file(r, "flow.yaml", "jobs: {b: 'true'}");
    char args[128];
    snprintf(args, sizeof args, "submit %s/flow.yaml -k once", r->data);
    realcli_refused(r, args, 6, "key");
}

static void a_large_flow_goes_in_parts(void **state) {
    (void)state;
    static char text[1200000];
    size_t len = (size_t)snprintf(text, sizeof text, "jobs:\n");
    for (int i = 0; i < 12000; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "  j%d: {noop: true%s}\n", i,
                                i >= 100 ? ", needs: j7" : "");
    char id[64];
    snprintf(id, sizeof id, "%s", submit(text, ""));
    assert_has(with("wait -q @", id).out, "succeeded");
    assert_has(with("ls --json @ --limit 1", id).out, "succeeded");
    assert_has(with("show --json @", id).out, "\"job_count\":12000");
}

static void bad_files_are_told_where(void **state) {
    (void)state;
    char args[128];
    snprintf(args, sizeof args, "submit %s", realcli_file(r, "bad.yaml", "jobs:\n  a: {run: x, retrys: 1}\n"));
    realcli_refused(r, args, 2, "bad.yaml:2:15: a job has no key `retrys`; did you mean `retries`?");
    snprintf(args, sizeof args, "submit %s -p x=1", realcli_file(r, "bad.yaml", "jobs: {a: x}\n"));
    realcli_refused(r, args, 2, "the flow has no parameter `x`");
    realcli_refused(r, "submit /no/such.yaml", 5, "No such file");
    struct ran ran = realcli_run(r, "submit - --json", NULL, "jobs: [a]");
    assert_int_equal(ran.exit_code, 2);
    assert_has(ran.err, "{\"code\":\"invalid\",\"message\":\"stdin:1:7: ");
}

static void an_empty_file_is_told_so(void **state) {
    (void)state;
    static const char *const verbs[] = {"submit %s", "submit --dry-run %s", "schedule add %s --cron 0_0_*_*_*",
                                        "deploy %s --name nil", "add f1 %s"};
    char path[96];
    snprintf(path, sizeof path, "%s", realcli_file(r, "empty.yaml", ""));
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        struct ran ran = realcli_run(r, verbs[i], path, NULL);
        if (ran.exit_code != 2 || strstr(ran.err, "the file is empty: a flow needs jobs") == NULL)
            fail_msg("%s: exit %d: %s", verbs[i], ran.exit_code, ran.err);
    }
    realcli_refused(r, "submit -", 2, "stdin: the file is empty: a flow needs jobs");
    snprintf(path, sizeof path, "%s", realcli_file(r, "empty.json", ""));
    assert_int_equal(realcli_run(r, "submit %s", path, NULL).exit_code, 2);
    snprintf(path, sizeof path, "%s", realcli_file(r, "comment.yaml", "# nothing\n"));
    assert_has(realcli_run(r, "submit %s", path, NULL).err, "found nothing");
    /* Files that a flow names may be empty. */
    (void)realcli_file(r, "empty.sh", "");
    (void)submit("params: {nil: {default: ''}}\n"
                 "jobs:\n  a: {script: empty.sh}\n  b: {run: [echo, '${params.nil}'], stdin: ''}\n",
                 "-w");
}

static void scripts_go_along(void **state) {
    (void)state;
    (void)realcli_file(r, "small.sh", "echo small $1\n");
    static char large[100000];
    memset(large, '#', sizeof large - 1);
    memcpy(large + sizeof large - 20, "\necho large\n#######", 20 - 1);
    (void)realcli_file(r, "large.sh", large);
    char id[64];
    snprintf(id, sizeof id, "%s",
             submit("jobs:\n  a: {script: {file: small.sh, args: [one]}}\n  b: {script: large.sh}\n", "-w"));
    assert_has(with("logs @/a", id).out, "small one");
    assert_has(with("logs @/b", id).out, "large");
}

/* ---- looking ---- */

static void looking(void **state) {
    (void)state;
    char id[64], args[128];
    snprintf(id, sizeof id, "%s",
             submit("name: look\njobs:\n  a: echo 1\n  b: {run: echo 2, needs: a}\n  c: {run: echo 3, needs: [a, b]}\n",
                    "-w"));
    assert_has(with("ls --name look", id).out, "look");
    assert_has(with("ls @", id).out, "/b");
    assert_has(with("ls @ --dialect titan", id).out, "COMPLETED");
    assert_has(with("show @", id).out, "3 succeeded");
    assert_has(with("show @/a --json", id).out, "\"kind\":\"command\"");
    assert_has(with("graph @", id).out, "✓ a\n└─ ✓ b\n   └─ ✓ c  ← a\n");
    assert_has(with("why @/a", id).out, "the job has finished: succeeded");
    assert_has(with("logs @/b -t", id).out, " 2\n");
    assert_has(realcli_ok(r, "workers", NULL).out, "here");
    assert_has(realcli_ok(r, "stats", NULL).out, "flows ");
    assert_has(realcli_ok(r, "stats --json", NULL).out, "\"flows\":");
    assert_has(realcli_ok(r, "version", NULL).out, "reeve ");
    assert_has(realcli_ok(r, "version", NULL).out, "wire 2, at unix:"); /* the server's, too */
    assert_has(realcli_ok(r, "version --json", NULL).out, "\"server\":{\"version\":");
    assert_null(strstr(with("ls @", id).out, "\033[")); /* no colours into a pipe */
    assert_has(with("ls @ --color always", id).out, "\033[32m");
    snprintf(args, sizeof args, "show %s/zzz", id);
    realcli_refused(r, args, 5, "no job zzz");
    realcli_refused(r, "show f1zzz", 5, "no flow");
    realcli_refused(r, "logs", 2, "expected FLOW|JOB");
}

static void following_a_log(void **state) {
    (void)state;
    char id[64];
    snprintf(id, sizeof id, "%s", submit("jobs: {a: 'echo begin; sleep 0.3; echo end'}", ""));
    (void)with("wait -q @", id);
    assert_string_equal(with("logs -f @", id).out, "begin\nend\n");
    assert_string_equal(with("logs --tail 4 @", id).out, "end\n");
}

/* ---- deciding and changing ---- */

static void people_decide(void **state) {
    (void)state;
    char id[64], args[128];
    snprintf(id, sizeof id, "%s",
             submit("jobs:\n  g: {gate: Deploy?}\n  e: {external: parcel}\n  h: {gate: Really?, needs: g}\n"
                    "  z: {run: 'echo $REEVE_INPUT_E', needs: [g, e]}\n",
                    ""));
    assert_has(realcli_ok(r, "approve", NULL).out, "Deploy?");
    assert_has(with("why @/g", id).out, "reeve approve");
    assert_has(with("why @/e", id).out, "reeve complete");
    snprintf(args, sizeof args, "approve %s/g", id);
    realcli_refused(r, args, 2, "standard input is not a terminal");
    snprintf(args, sizeof args, "approve %s/g --hash 00", id);
    realcli_refused(r, args, 6, "has changed");
    assert_has(with("approve @/g --yes --reason fine", id).err, "asks     Deploy?");
    (void)with("reject @/h", id);
    snprintf(args, sizeof args, "complete %s/e --output %%s", id);
    (void)realcli_ok(r, args, "{\"weight\":3}");
    (void)with("wait -q @/z", id);
    assert_has(with("logs @/z", id).out, "{\"weight\":3}");
    assert_has(with("show @/h", id).out, "denied");
    snprintf(args, sizeof args, "wait -q %s", id);
    assert_int_equal(realcli_run(r, args, NULL, NULL).exit_code, 1);
}

static void cancel_retry_rerun_pause(void **state) {
    (void)state;
    char id[64], args[128];
    snprintf(id, sizeof id, "%s", submit("jobs: {a: {sleep: 60s}, b: {run: x, needs: a}}", ""));
    (void)with("pause @", id);
    (void)with("resume @", id);
    assert_has(with("cancel @ --reason enough", id).out, "cancelled");
    snprintf(args, sizeof args, "wait -q %s", id);
    assert_int_equal(realcli_run(r, args, NULL, NULL).exit_code, 1);
    snprintf(args, sizeof args, "cancel %s f1zzz", id);
    realcli_refused(r, args, 6, "has finished");
    snprintf(id, sizeof id, "%s", submit("jobs: {a: {fail: 3, retries: 0}}", ""));
    snprintf(args, sizeof args, "wait -q %s", id);
    assert_int_equal(realcli_run(r, args, NULL, NULL).exit_code, 1);
    assert_has(realcli_ok(r, "dead", NULL).out, "/a");
    (void)with("retry @/a", id);
    assert_int_equal(realcli_run(r, args, NULL, NULL).exit_code, 1);
    (void)with("rerun --from-failed @", id);
    assert_int_equal(realcli_run(r, args, NULL, NULL).exit_code, 1);
    (void)with("discard @/a", id);
    snprintf(id, sizeof id, "%s", submit("jobs: {a: {sleep: 60s}}", ""));
    snprintf(args, sizeof args, "wait --timeout 200ms %s", id);
    struct ran late = realcli_run(r, args, NULL, NULL);
    assert_int_equal(late.exit_code, 124);
    assert_has(late.err, "--timeout expired before everything had finished");
    (void)with("cancel @", id);
    realcli_refused(r, "pause", 2, "expected one of");
    realcli_refused(r, "drain nobody", 5, "no worker nobody");
}

/* ---- the store, blobs, tokens ---- */

static void keys(void **state) {
    (void)state;
    (void)realcli_ok(r, "kv set color blue", NULL);
    assert_string_equal(realcli_ok(r, "kv get color", NULL).out, "blue\n");
    realcli_refused(r, "kv set color red --if-absent", 6, "");
    assert_string_equal(realcli_ok(r, "kv incr n 5", NULL).out, "5\n");
    assert_string_equal(realcli_ok(r, "kv incr n", NULL).out, "6\n");
    (void)realcli_ok(r, "kv add s x y", NULL);
    assert_string_equal(realcli_ok(r, "kv get s", NULL).out, "x\ny\n");
    (void)realcli_ok(r, "kv rem s x", NULL);
    assert_has(realcli_ok(r, "kv ls", NULL).out, "color  blue\n");
    assert_has(realcli_ok(r, "kv get --json n", NULL).out, "\"number\":6");
    (void)realcli_ok(r, "kv expire n --ttl 1h", NULL);
    (void)realcli_ok(r, "kv publish news hello", NULL);
    (void)realcli_ok(r, "kv del color", NULL);
    realcli_refused(r, "kv get color", 5, "there is no key color");
    realcli_refused(r, "kv incr n many", 2, "expected a number");
}

/* Whatever others wrote, a list does not command the terminal of who looks at it. */
static void text_of_others_is_shown_harmless(void **state) {
    (void)state;
    static const char escape[] = "\033]0;owned\007\xe2\x80\xaegpj";
    char args[64];
    snprintf(args, sizeof args, "kv set %s %%s", "bad");
    (void)realcli_ok(r, args, escape);
    assert_has(realcli_ok(r, "kv ls bad", NULL).out, "bad  ?]0;owned??gpj\n");
    assert_has(realcli_ok(r, "kv get bad", NULL).out, escape); /* the bytes themselves */
    (void)realcli_ok(r, "kv del bad", NULL);
    struct ran ran = realcli_run(r, "kv get %s", escape, NULL); /* what is said in an error */
    assert_int_equal(ran.exit_code, 5);
    assert_null(strpbrk(ran.err, "\033\007"));
    assert_null(strstr(ran.err, "\xe2\x80\xae"));
    ran = realcli_run(r, "token new --role viewer %s", escape, NULL);
    assert_int_equal(ran.exit_code, 2);
    assert_has(ran.err, "a control character");
}

static void blobs(void **state) {
    (void)state;
    struct ran put = realcli_run(r, "blob put -", NULL, "some bytes");
    assert_int_equal(put.exit_code, 0);
    char hash[80];
    snprintf(hash, sizeof hash, "%.*s", (int)strcspn(put.out, "\n"), put.out);
    assert_int_equal(strlen(hash), 64);
    assert_string_equal(realcli_ok(r, "blob get %s", hash).out, "some bytes");
    const char *listed = strstr(realcli_ok(r, "blob ls", NULL).out, hash);
    assert_non_null(listed);
    char line[160];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(listed, "\n"), listed);
    assert_has(line, " standard input"); /* kept by a person; a file of a flow has - there */
    realcli_refused(r, "blob get abc", 2, "64 hexadecimal digits");
    hash[0] = hash[0] == '0' ? '1' : '0';
    assert_int_equal(realcli_run(r, "blob get %s", hash, NULL).exit_code, 5);
    hash[0] = put.out[0];
    assert_has(realcli_ok(r, "blob rm %s", hash).out, " is no longer kept\n");
}

static void limits(void **state) {
    (void)state;
    assert_string_equal(realcli_ok(r, "limit key licence 0", NULL).out, "limit of key licence: 0 at once\n");
    assert_string_equal(realcli_ok(r, "limit rate mails 0.5 --burst 10", NULL).out,
                        "limit of rate mails: 0.5 per second, burst 10\n");
    assert_string_equal(realcli_ok(r, "limit tenant --running 50 --bytes 1GiB --tenant acme", NULL).out,
                        "limit of tenant acme: 50 running, 1.0 GiB\n");
    const char *shown = realcli_ok(r, "limits", NULL).out;
    assert_has(shown, "licence");
    assert_has(shown, "0.5 a second, 10 at once");
    assert_has(shown, "50 running 1.0 GiB");
    assert_has(realcli_ok(r, "limits --json", NULL).out,
               "\"name\":\"mails\",\"set\":true,\"rate_milli\":500,\"burst\":10");

    const char *id = realcli_submit(r, "jobs: {a: {noop: true, concurrency: [licence, other]}}", "");
    assert_has(with("why @/a", id).out, "licence");
    assert_has(realcli_ok(r, "limits", NULL).out, "1 at once (not set)");
    (void)realcli_ok(r, "limit key licence 2", NULL);
    (void)with("wait @", id);
    assert_string_equal(realcli_ok(r, "limit key licence --clear", NULL).out, "limit of key licence removed\n");
    (void)realcli_ok(r, "limit rate mails --clear", NULL);
    (void)realcli_ok(r, "limit tenant --clear --tenant acme", NULL);
    assert_null(strstr(realcli_ok(r, "limits", NULL).out, "mails"));

    realcli_refused(r, "limit key licence", 2, "pass how many run at once");
    realcli_refused(r, "limit key licence 2 --clear", 2, "--clear");
    realcli_refused(r, "limit key licence many", 2, "many");
    realcli_refused(r, "limit rate mails 0", 2, "expected a rate per second");
    realcli_refused(r, "limit tenant", 2, "--running");
    realcli_refused(r, "limit tenant --bytes much", 2, "much");
}

static void tokens(void **state) {
    (void)state;
    realcli_refused(r, "token new bob", 2, "--role");
    struct ran made = realcli_ok(r, "token new bob --role viewer --expires 1h", NULL);
    char token[128], address[64], path[96];
    snprintf(token, sizeof token, "%.*s", (int)strcspn(made.out, "\n"), made.out);
    snprintf(path, sizeof path, "%s/address", r->data);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_non_null(fgets(address, sizeof address, f));
    address[strcspn(address, "\n")] = 0;
    fclose(f);
    setenv("REEVE_TOKEN", token, 1);
    (void)realcli_ok(r, "ls --server %s", address);
    struct ran ran = realcli_run(r, "run --server %s true", address, NULL);
    assert_int_equal(ran.exit_code, 4);
    assert_has(ran.err, "is not allowed to submit");
    setenv("REEVE_TOKEN", "wrong", 1);
    assert_int_equal(realcli_run(r, "ls --server %s", address, NULL).exit_code, 4);
    unsetenv("REEVE_TOKEN");
    struct ran listed = realcli_ok(r, "token ls -o jsonl", NULL);
    const char *bob = strstr(listed.out, "\"name\":\"bob\"");
    assert_non_null(bob);
    while (bob > listed.out && bob[-1] != '\n') bob--;
    char id[32];
    assert_int_equal(sscanf(bob, "{\"id\":\"%31[^\"]", id), 1);
    (void)realcli_ok(r, "token revoke %s", id);
    assert_null(strstr(realcli_ok(r, "token ls", NULL).out, "bob"));
}

/* ---- the table of verbs ---- */

static void help_completion_and_manual(void **state) {
    (void)state;
    assert_has(realcli_ok(r, "help --all", NULL).out, "exit codes:");
    assert_has(realcli_ok(r, "help", NULL).out, "reeve help --all");
    assert_has(realcli_ok(r, "help submit", NULL).out, "--dry-run");
    assert_has(realcli_ok(r, "help kv", NULL).out, "reeve kv incr");
    assert_has(realcli_ok(r, "logs --help", NULL).out, "-f, --follow");
    assert_has(realcli_ok(r, "help --man", NULL).out, ".TH REEVE 1");
    realcli_refused(r, "help nonsense", 2, "there is no verb");
    assert_has(realcli_ok(r, "completion bash", NULL).out, "complete -F _reeve reeve");
    assert_has(realcli_ok(r, "completion zsh", NULL).out, "#compdef reeve");
    assert_has(realcli_ok(r, "completion fish", NULL).out, "complete -c reeve");
}

static void wrong_words(void **state) {
    (void)state;
    realcli_refused(r, "submti x", 2, "did you mean `submit`?");
    realcli_refused(r, "ls --stat failed", 2, "did you mean --state?");
    realcli_refused(r, "ls --limit many", 2, "expected a number");
    realcli_refused(r, "ls a b", 2, "unexpected argument `b`");
    realcli_refused(r, "wait x --timeout 5", 2, "expected a duration");
    realcli_refused(r, "ls --state", 2, "--state needs a value: --state STATE");
    realcli_refused(r, "ls --dialect klingon", 2, "titan, orion, cordum or corun");
    realcli_refused(r, "completion tcsh", 2, "expected bash, zsh or fish");
    realcli_refused(r, "up", 6, "is already running on");
    realcli_refused(r, "ls --server 127.0.0.1:1", 8, "cannot connect to");
}

/* ---- the supervisor ---- */

static struct realcli own;

static int make_own(void **state) {
    (void)state;
    realcli_make(&own);
    return 0;
}

static int stop_own(void **state) {
    (void)state;
    realcli_stop(&own);
    return 0;
}

static void what_dies_is_started_again(void **state) {
    (void)state;
    char command[256];
    realcli_refused(&own, "ls", 8, "start one with `reeve up`");
    realcli_refused(&own, "down", 5, "nothing that `reeve up` started");
    realcli_up(&own);
    struct ran before = realcli_ok(&own, "run -d sleep 1", NULL);
    /* The server is killed; the job goes on, and a server is back to tell of it. */
    snprintf(command, sizeof command, "kill -9 $(pgrep -o -P $(cat %s/up.pid))", own.data);
    assert_int_equal(system(command), 0);
    char job[64], args[128];
    snprintf(job, sizeof job, "%.*s", (int)strcspn(before.out, "\n"), before.out);
    snprintf(args, sizeof args, "wait -q %s", job);
    struct ran ran = {.exit_code = 8};
    for (int i = 0; i < 2000 && ran.exit_code == 8; i++) ran = realcli_run(&own, args, NULL, NULL);
    if (ran.exit_code != 0) fail_msg("exit %d: %s%s", ran.exit_code, ran.out, ran.err);
    assert_has(realcli_ok(&own, "run echo again", NULL).out, "again");
    (void)realcli_ok(&own, "down", NULL);
    realcli_refused(&own, "ls", 8, "no server is running");
}

/* What is waited for kills the server, once its beginning was seen; then what waits sees the rest, once each. */
static void waiting_outlives_a_killed_server(void **state) {
    (void)state;
    static const char script[] =
        "cd $D && kill_it='kill -9 $(pgrep -f -P $(cat up.pid) reeve.serve)' && export kill_it || exit 90\n"
        "seen() { echo \"until grep -q $1 $D/shown; do sleep 0.01; done; cd $D; $kill_it\"; }\n"
        "$R run --data $D -- sh -c \"echo one; $(seen one); echo two; exit 3\" >shown 2>said\n"
        "[ $? = 3 ] && [ \"$(tr '\\n' ' ' <shown)\" = 'one two ' ] && "
        "grep -q 'waiting for the server' said || exit 91\n"
        "first=$($R run --data $D -d true); : >shown\n"
        "second=$($R run --data $D -d -- sh -c \"$(seen $first); sleep 0.1\")\n"
        "$R wait --data $D $first $second >shown 2>said && grep -q 'waiting for the server' said || exit 92\n"
        "[ $(grep -c $first shown) = 1 ] && [ $(grep -c $second shown) = 1 ] || exit 93\n"
        "$R wait --data $D --timeout 1ms $($R run --data $D -d sleep 5) && exit 94\n"
        ":\n";
    char command[256];
    realcli_up(&own);
    assert_int_equal(setenv("D", own.data, 1) + setenv("R", realserver_binary(), 1), 0);
    snprintf(command, sizeof command, "timeout 60 sh %s; code=$?; tail -n 9 %s/shown %s/said >&2; exit $code",
             realcli_file(&own, "script", script), own.data, own.data);
    int status = system(command);
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Ended and started again, both are as before. */
static void down_and_up_again(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        (void)realcli_ok(r, "down", NULL);
        realcli_up(r);
        assert_string_equal(realcli_ok(r, "run -- echo again", NULL).out, "again\n");
    }
}

/* A flow file takes along what lies in its folder, whatever it names and through whatever link. */
static void a_flow_file_reads_nothing_outside_its_folder(void **state) {
    (void)state;
    char link[200];
    const char *path = realcli_file(r, "inside.sh", "echo inside");
    snprintf(link, sizeof link, "%.*s/link.sh", (int)(strrchr(path, '/') - path), path);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    static const char *const outside[] = {"/etc/passwd", "link.sh", "../../../../../../../../../etc/passwd"};
    char text[200];
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        snprintf(text, sizeof text, "jobs: {a: {script: %s}}", outside[i]);
        path = realcli_file(r, "outside.yaml", text);
        struct ran ran = realcli_run(r, "submit --dry-run %s", path, NULL);
        assert_int_equal(ran.exit_code, 4);
        assert_has(ran.err, "is outside the folder of the flow file; pass --allow-outside");
        assert_int_equal(realcli_run(r, "submit --dry-run --allow-outside %s", path, NULL).exit_code, 0);
    }
    path = realcli_file(r, "outside.yaml", "jobs: {a: {script: ./inside.sh}}");
    assert_int_equal(realcli_run(r, "submit --dry-run %s", path, NULL).exit_code, 0);
    assert_int_equal(unlink(link), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_shows_output_and_exits_as_the_job),
        cmocka_unit_test(lines_that_are_flushed_one_by_one_are_all_kept),
        cmocka_unit_test(run_is_tried_once_unless_said),
        cmocka_unit_test(run_passes_input_and_environment),
        cmocka_unit_test(what_happened_is_told),
        cmocka_unit_test(a_key_is_submitted_once),
        cmocka_unit_test(a_large_flow_goes_in_parts),
        cmocka_unit_test(bad_files_are_told_where),
        cmocka_unit_test(an_empty_file_is_told_so),
        cmocka_unit_test(scripts_go_along),
        cmocka_unit_test(a_flow_file_reads_nothing_outside_its_folder),
        cmocka_unit_test(looking),
        cmocka_unit_test(following_a_log),
        cmocka_unit_test(people_decide),
        cmocka_unit_test(cancel_retry_rerun_pause),
        cmocka_unit_test(keys),
        cmocka_unit_test(text_of_others_is_shown_harmless),
        cmocka_unit_test(blobs),
        cmocka_unit_test(limits),
        cmocka_unit_test(tokens),
        cmocka_unit_test(help_completion_and_manual),
        cmocka_unit_test(wrong_words),
        cmocka_unit_test_setup_teardown(what_dies_is_started_again, make_own, stop_own),
        cmocka_unit_test_setup_teardown(waiting_outlives_a_killed_server, make_own, stop_own),
        cmocka_unit_test(down_and_up_again),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, realcli_group_setup, realcli_group_teardown);
}
