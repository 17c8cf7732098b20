/* help.c: what the table of verbs says, for people and as a manual page. */
#include <stdio.h>

#include "cli.h"
#include "err.h"
#include "panic.h"

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
    const char *first, *title;
} groups[] = {
    {"up", "Start and stop"},      {"run", "Submit and look"}, {"cancel", "Change flows and jobs"},
    {"schedule add", "Schedules"}, {"deploy", "Services"},     {"workers", "Workers, limits, events"},
    {"kv get", "Keys and blobs"},  {"console", "Access"},      {"cert init", "Certificates"},
    {"journal verify", "Journal"}, {"bench", "Tools"},
};

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
        for (size_t k = 0; k < sizeof groups / sizeof groups[0]; k++)
            if (strcmp(groups[k].first, cli_verbs[i].words) == 0) printf("\n%s:\n", groups[k].title);
        line_of(&cli_verbs[i]);
    }
    help_everywhere();
    printf("\nFlows and jobs are named by their id (f3k9a, f3k9a/train) or a unique beginning of it.\n"
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

/* A line that begins with a dot or a quote would be a command of roff; a backslash always is. */
static void roff(const char *text) {
    if (*text == '.' || *text == '\'') fputs("\\&", stdout);
    for (; *text != 0; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            fputc(*text, stdout);
    }
}

static void man_flags(const struct cli_flag *flags) {
    for (const struct cli_flag *f = flags; f != NULL && f->name != NULL; f++) {
        printf(".TP\n\\fB\\-\\-%s\\fR", f->name);
        if (f->letter != 0) printf(", \\fB\\-%c\\fR", f->letter);
        if (f->value != NULL) printf(" \\fI%s\\fR", f->value);
        printf("\n");
        roff(f->text);
        printf("\n");
    }
}

static void man_end(void) {
    printf(".SH FILES\n.TP\n\\fI.reeve\\fR\ndata directory of the server: journal, history, blobs, tokens, logs\n"
           ".TP\n\\fI.reeve/reeve.yaml\\fR\nsettings of the server\n"
           ".TP\n\\fI.reeve/admin.token\\fR, \\fI.reeve/worker.token\\fR\ntokens made at the first start\n"
           ".TP\n\\fI~/.config/reeve/contexts.json\\fR\nnamed servers and their tokens (\\fBreeve context\\fR)\n"
           ".TP\n\\fI~/.reeve_history\\fR\nhistory of \\fBreeve shell\\fR\n");
    printf(".SH EXAMPLES\n.TP\nStart a server and a worker, run a command, submit a flow:\n"
           ".nf\nreeve up \\-\\-detach\nreeve run \\-\\- echo hello\nreeve submit flow.yaml \\-\\-wait\n.fi\n"
           ".TP\nFind out why a flow waits, and approve a gate:\n"
           ".nf\nreeve why f3k9a\nreeve approve f3k9a/deploy\n.fi\n"
           ".TP\nRun a flow every night:\n"
           ".nf\nreeve schedule add nightly.yaml \\-\\-cron '30 2 * * *' \\-\\-zone Europe/Lisbon\n.fi\n");
}

static void man(const char *build) {
    printf(".TH REEVE 1 \"\" \"reeve %s\"\n.SH NAME\nreeve \\- runs jobs, flows and services durably\n", build);
    printf(".SH SYNOPSIS\n\\fBreeve\\fR \\fIVERB\\fR [\\fIFLAG\\fR]... [\\fIARG\\fR]...\n.SH VERBS\n");
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        const struct cli_verb *v = &cli_verbs[i];
        printf(".SS \"reeve %s ", v->words);
        roff(v->args);
        printf("\"\n");
        roff(v->text);
        printf(".\n");
        if (v->more != NULL) roff(v->more), printf("\n");
        man_flags(v->flags);
    }
    printf(".SH FLAGS OF EVERY VERB\n");
    man_flags(cli_common_flags);
    printf(".SH EXIT STATUS\n");
    for (size_t i = 0; i < EXIT_COUNT; i++) {
        printf(".TP\n%d\n", exits[i].code);
        roff(exits[i].meaning);
        printf("\n");
    }
    printf(".SH ENVIRONMENT\n.TP\n\\fBREEVE_DATA\\fR\ndirectory of the server (default: .reeve here or in a parent "
           "folder)\n.TP\n\\fBREEVE_SERVER\\fR, "
           "\\fBREEVE_TOKEN\\fR\naddress of the server, and the token for it\n.TP\n\\fBREEVE_CONTEXT\\fR\n"
           "name of the context to use\n.TP\n\\fBNO_COLOR\\fR\nno colours\n");
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
