/* main.c: the program; the only place where os/ meets the rest. What it can do is the table in cli/verbs.c. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit_journal.h"
#include "bench.h"
#include "cert.h"
#include "child.h"
#include "cli.h"
#include "crashtest.h"
#include "doctor_machine.h"
#include "forward_child.h"
#include "journal_verbs.h"
#include "mutant.h"
#include "osclock.h"
#include "osconfine.h"
#include "osdigest.h"
#include "osfetch.h"
#include "ossecure.h"
#include "ossigner.h"
#include "ostitle.h"
#include "replay_child.h"
#include "scaler.h"
#include "serve.h"
#include "up.h"
#include "worker.h"

#ifndef REEVE_VERSION
#define REEVE_VERSION "0.1.0"
#endif
#ifndef REEVE_COMMIT
#define REEVE_COMMIT ""
#endif

static enum err serve(int count, char **args, struct why *why) {
    return serve_run(count, args, REEVE_VERSION, why);
}

static enum err up(int count, char **args, struct why *why) {
    return up_run(count, args, REEVE_VERSION, why);
}

static enum err worker(int count, char **args, struct why *why) {
    return worker_run(count, args, REEVE_VERSION, why);
}

static enum err scaler(int count, char **args, struct why *why) {
    return scaler_run(count, args, REEVE_VERSION, why);
}

static enum err bench(int count, char **args, struct why *why) {
    return bench_run(count, args, REEVE_VERSION, why);
}

static enum err crashtest(int count, char **args, struct why *why) {
    return crashtest_run(count, args, REEVE_VERSION, why);
}

extern char **environ;

/* Whoever starts us may have closed some of the three; what we open next must not be taken for them. */
static void streams_open(void) {
    int fd = -1;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) (void)close(fd);
}

/* In reeve-mutants, REEVE_MUTANT names the defect that this process, and all that it starts, has. */
static void mutant_set(void) {
#ifdef REEVE_MUTANTS
    const char *name = getenv("REEVE_MUTANT");
    if (name == NULL || mutant_choose(name)) return;
    fprintf(stderr, "reeve: there is no mutant %s\n", name);
    exit(2);
#endif
}

int main(int argc, char **argv) {
    ostitle_init(argc, argv, environ);
    streams_open();
    mutant_set();
    const struct child_world of_child = {.confine = &osconfine};
    if (replay_child_is(argc, argv)) return replay_child_run(argv);
    if (forward_child_is(argc, argv)) return forward_child_run(argv, REEVE_VERSION);
    if (child_is(argc, argv)) return child_run(&of_child, argc, argv);
    const struct login_world login = {.clock = osclock(), .fetch = osfetch_once};
    const struct cli_world world = {.build = REEVE_VERSION,
                                    .commit = REEVE_COMMIT,
                                    .clock = osclock(),
                                    .hasher = osdigest(),
                                    .login = &login,
                                    .secure = &ossecure,
                                    .checker = &ossigner_checker,
                                    .journal = audit_journal,
                                    .journal_close = audit_journal_close,
                                    .audit_key = audit_key,
                                    .doctor = doctor_machine,
                                    .outside = {[CLI_UP] = up,
                                                [CLI_DOWN] = up_down,
                                                [CLI_SERVE] = serve,
                                                [CLI_WORKER] = worker,
                                                [CLI_SCALER] = scaler,
                                                [CLI_CONFIG] = serve_config,
                                                [CLI_CERT_INIT] = cert_init,
                                                [CLI_CERT_WORKER] = cert_worker,
                                                [CLI_CERT_CLIENT] = cert_client,
                                                [CLI_CERT_REVOKE] = cert_revoke,
                                                [CLI_JOURNAL_VERIFY] = journal_verify,
                                                [CLI_JOURNAL_DUMP] = journal_dump,
                                                [CLI_JOURNAL_AT] = journal_at,
                                                [CLI_JOURNAL_COMPACT] = journal_compact,
                                                [CLI_BENCH] = bench,
                                                [CLI_CRASHTEST] = crashtest}};
    return cli_main(&world, argc, argv);
}
