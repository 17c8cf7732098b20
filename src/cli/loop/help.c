/* help.c: what the table of verbs says, for people and as a manual page. */
#include <stdio.h>

#include "cli.h"
#include "err.h"
#include "panic.h"
#include "roff.h"

static const struct {
    int code;
    const char *meaning;
} exits[] = {
    {0, "success; `wait` and `submit --wait`: everything succeeded"},
    {EXIT_ENDED_BADLY, "`wait`, `submit --wait`, `run`: a job or flow failed"},
    {2, "invalid request: bad flag, file or name"},
    {4, "not authenticated, or not allowed"},
    {5, "not found"},
    {6, "not possible in the current state"},
    {7, "overloaded, or a limit was reached: try again later"},
    {8, "server unreachable, or the outcome is unknown"},
    {9, "I/O error, or stored data is damaged"},
    {EXIT_TIMED_OUT, "`run`: the job timed out; `wait`: --timeout expired"},
    {EXIT_NEVER_RAN, "`run`: the job was cancelled, denied, or never ran"},
    {EXIT_SIGNAL, "+N, `run`: the job was killed by signal N"},
};
#define EXIT_COUNT (sizeof exits / sizeof exits[0])

static void print_flags(const struct cli_flag *flags) {
    for (const struct cli_flag *f = flags; f != NULL && f->name != NULL; f++) {
        char left[64];
        snprintf(left, sizeof left, "%c%c%s --%s%s%s", f->letter != 0 ? '-' : ' ', f->letter != 0 ? f->letter : ' ',
                 f->letter != 0 ? "," : " ", f->name, f->value != NULL ? " " : "", f->value != NULL ? f->value : "");
        printf("  %-26s %s\n", left, f->text);
    }
}

static void help_verb(const struct cli_verb *v) {
    printf("usage: reeve %s %s%s\n\n%s.\n", v->words, v->flags != NULL ? "[FLAG]... " : "", v->args, v->text);
    if (v->more != NULL) printf("%s\n", v->more);
    if (v->flags != NULL) printf("\n");
    print_flags(v->flags);
}

static void help_everywhere(void) {
    printf("\nEverywhere:\n");
    print_flags(cli_common_flags);
}

static void help_everywhere_short(void) {
    printf("\nEverywhere:");
    for (const struct cli_flag *f = cli_common_flags; f->name != NULL; f++)
        printf("%s --%s%s%s", f == cli_common_flags ? "" : ",", f->name, f->value != NULL ? " " : "",
               f->value != NULL ? f->value : "");
    printf("\n(`reeve help --all` describes them)\n");
}

/* ---- lists of verbs ---- */

/* The verbs of most days, in the order in which a newcomer meets them. */
static const char *const usual[] = {"up",   "run", "submit", "ls",      "show", "logs",
                                    "wait", "why", "cancel", "approve", "top",  "down"};

/* A group begins with its first verb in the table. */
static const struct {
    const char *first, *title, *man;
} groups[] = {
    {"up", "Start and stop", "START AND STOP"},
    {"run", "Submit and look", "SUBMIT AND LOOK"},
    {"cancel", "Change flows and jobs", "CHANGE FLOWS AND JOBS"},
    {"schedule add", "Schedules", "SCHEDULES"},
    {"deploy", "Services", "SERVICES"},
    {"workers", "Workers, limits, events", "WORKERS, LIMITS, EVENTS"},
    {"kv get", "Keys and blobs", "KEYS AND BLOBS"},
    {"console", "Access", "ACCESS"},
    {"cert init", "Certificates", "CERTIFICATES"},
    {"journal verify", "Journal", "JOURNAL"},
    {"bench", "Tools", "TOOLS"},
};
#define GROUP_COUNT (sizeof groups / sizeof groups[0])

static const struct cli_verb *verb_called(const char *words) {
    for (uint32_t i = 0; i < cli_verb_count; i++)
        if (strcmp(cli_verbs[i].words, words) == 0) return &cli_verbs[i];
    return NULL;
}

static void line_of(const struct cli_verb *v) {
    char left[64];
    snprintf(left, sizeof left, "%s %s", v->words, v->args);
    if (strlen(left) > 30) snprintf(left, sizeof left, "%s ...", v->words);
    printf("  %-30s %s\n", left, v->text);
}

static void help_head(const char *build) {
    printf("reeve %s: runs jobs, job graphs (flows) and services. An acknowledged job is never lost.\n\n"
           "usage: reeve VERB [FLAG]... [ARG]...\n",
           build);
}

static void help_usual(const char *build) {
    help_head(build);
    printf("\n");
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        const struct cli_verb *v = verb_called(usual[i]);
        ENSURE(v != NULL);
        line_of(v);
    }
    printf("\n`reeve help --all` lists all verbs and the exit codes; `reeve help VERB` shows the flags of one.\n");
}

static void help_all(const char *build) {
    help_head(build);
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        for (size_t k = 0; k < GROUP_COUNT; k++)
            if (strcmp(groups[k].first, cli_verbs[i].words) == 0) printf("\n%s:\n", groups[k].title);
        line_of(&cli_verbs[i]);
    }
    help_everywhere();
    printf("\nFlows and jobs are named by their id (f3k9a, f3k9a/train), a unique beginning of it, the name of a flow\n"
           "(nightly-etl/load: the newest of that name), or @last, the newest flow that you submitted.\n"
           "`reeve help VERB` shows the flags of a verb; `reeve help --man` prints the manual page.\n\nexit codes:\n");
    for (size_t i = 0; i < EXIT_COUNT; i++) printf("  %4d  %s\n", exits[i].code, exits[i].meaning);
}

void cli_help(const struct cli_verb *verb, const char *build) {
    if (verb == NULL) {
        help_usual(build);
        return;
    }
    help_verb(verb);
    if (verb->outside == CLI_INSIDE) help_everywhere_short();
}

/* ---- the manual page ---- */

static void man_flags(const struct cli_flag *flags) {
    for (const struct cli_flag *f = flags; f != NULL && f->name != NULL; f++) {
        char tag[64];
        snprintf(tag, sizeof tag, "%s%.1s%s--%s", f->letter != 0 ? "-" : "", &f->letter, f->letter != 0 ? ", " : "",
                 f->name);
        roff_item(stdout, tag, f->value, f->text);
    }
}

static void man_verb(const struct cli_verb *v) {
    printf(".SS \"reeve %s ", v->words);
    roff_text(stdout, v->args);
    printf("\"\n");
    roff_text(stdout, v->text);
    printf(".\n");
    if (v->more != NULL) roff_text(stdout, v->more), printf("\n");
    man_flags(v->flags);
}

static void man_example(const char *text, const char *lines) {
    printf(".PP\n");
    roff_text(stdout, text);
    printf("\n.PP\n.nf\n.RS\n");
    while (*lines != 0) {
        char line[256];
        size_t len = strcspn(lines, "\n");
        snprintf(line, sizeof line, "%.*s", (int)len, lines);
        roff_text(stdout, line);
        printf("\n");
        lines += len + (lines[len] != 0);
    }
    printf(".RE\n.fi\n");
}

static void man_files(void) {
    static const char *const files[][2] = {
        {".reeve", "data directory of the server: journal, history, blobs, tokens, logs"},
        {".reeve/reeve.yaml", "settings of the server, see reeve-serve(8)"},
        {".reeve/admin.token, .reeve/worker.token", "tokens made at the first start"},
        {".reeve/serve.log, .reeve/worker.log", "logs of what `reeve up` started"},
        {".reeve-worker", "identity and undelivered results of a worker, see reeve-worker(8)"},
        {"~/.config/reeve/contexts.json", "named servers and their tokens (`reeve context`)"},
        {"~/.reeve_history", "history of `reeve shell`"}};
    printf(".SH FILES\n");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) roff_item(stdout, files[i][0], NULL, files[i][1]);
}

static void man_environment(void) {
    static const char *const variables[][2] = {
        {"REEVE_DATA", "directory of the server (default: .reeve here or in a parent folder)"},
        {"REEVE_SERVER, REEVE_TOKEN", "address of the server, and the token for it"},
        {"REEVE_CONTEXT", "name of the context to use"},
        {"REEVE_TLS_CA, REEVE_TLS_PIN, REEVE_TLS_CERT", "as the flags --tls-ca, --tls-pin and --tls-cert"},
        {"REEVE_HISTORY", "file for the history of `reeve shell`"},
        {"NO_COLOR", "no colours"}};
    printf(".SH ENVIRONMENT\n");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        roff_item(stdout, variables[i][0], NULL, variables[i][1]);
}

static void man_end(void) {
    printf(".SH EXIT STATUS\n");
    for (size_t i = 0; i < EXIT_COUNT; i++) {
        char code[16];
        snprintf(code, sizeof code, "%d", exits[i].code);
        roff_item(stdout, code, NULL, exits[i].meaning);
    }
    man_environment();
    man_files();
    printf(".SH EXAMPLES\n");
    man_example("Start a server and a worker, run a command, submit a flow:",
                "reeve up --detach\nreeve run -- echo hello\nreeve submit flow.yaml --wait");
    man_example("See what a flow would do, and what is wrong with this machine:", "reeve plan flow.yaml\nreeve doctor");
    man_example("Find out why a flow waits, and approve a gate:", "reeve why f3k9a\nreeve approve f3k9a/deploy");
    man_example("Run a flow every night:", "reeve schedule add nightly.yaml --cron '30 2 * * *' --zone Europe/Lisbon");
    man_example("See who changed limits in the last week:", "reeve audit --since 7d --type limit");
    printf(".SH SEE ALSO\n.BR reeve\\-flow (5),\n.BR reeve\\-serve (8),\n.BR reeve\\-worker (8)\n");
}

static void man(const char *build) {
    roff_head(stdout, "reeve", 1, build, "run jobs, flows and services durably");
    printf(".SH SYNOPSIS\n\\fBreeve\\fR \\fIVERB\\fR [\\fIFLAG\\fR]... [\\fIARG\\fR]...\n.SH DESCRIPTION\n");
    roff_text(stdout, "Runs jobs, job graphs (flows) and services. An acknowledged job is never lost.");
    printf("\n.PP\n");
    roff_text(stdout, "Flows and jobs are named by their id (f3k9a, f3k9a/train) or a unique beginning of it.");
    printf("\n");
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        for (size_t k = 0; k < GROUP_COUNT; k++)
            if (strcmp(groups[k].first, cli_verbs[i].words) == 0) printf(".SH %s\n", groups[k].man);
        man_verb(&cli_verbs[i]);
    }
    printf(".SH FLAGS OF EVERY VERB\n");
    man_flags(cli_common_flags);
    man_end();
}

enum err verb_help(struct cli *c) {
    char words[64];
    if (cli_flag(c, "man") != NULL) {
        man(c->world->build);
        return ERR_OK;
    }
    if (cli_flag(c, "all") != NULL) {
        help_all(c->world->build);
        return ERR_OK;
    }
    if (c->arg_count == 0) {
        cli_help(NULL, c->world->build);
        return ERR_OK;
    }
    snprintf(words, sizeof words, "%s%s%s", c->args[0], c->arg_count > 1 ? " " : "",
             c->arg_count > 1 ? c->args[1] : "");
    size_t len = strlen(words);
    bool found = false, is_inside = false;
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        bool is_group = strncmp(cli_verbs[i].words, words, len) == 0 && cli_verbs[i].words[len] == ' ';
        if (strcmp(cli_verbs[i].words, words) != 0 && !is_group) continue;
        if (found) printf("\n");
        help_verb(&cli_verbs[i]);
        found = true;
        is_inside |= cli_verbs[i].outside == CLI_INSIDE;
    }
    if (is_inside) help_everywhere_short();
    return found ? ERR_OK : cli_refuse(c, ERR_INVALID, "there is no verb `%s`; `reeve help --all` lists them", words);
}
