/* scaler_options.c: see scaler_options.h. */
#include "scaler_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet.h"
#include "spec_value.h"

#define MAX_STANDARD 4u
#define IDLE_MS_STANDARD 60000
#define AFTER_MS_STANDARD 1000
#define HOOK_TIMEOUT_MS_STANDARD 60000
#define HOOK_PATIENCE_MS_STANDARD 300000 /* machines of clouds take minutes */

enum scaler_option_kind { KIND_TEXT, KIND_COUNT, KIND_DURATION };

static const struct scaler_option {
    const char *name, *value;
    enum scaler_option_kind kind;
    size_t at; /* in struct scaler_options */
    const char *help;
} options[] = {
    {"--min", "N", KIND_COUNT, offsetof(struct scaler_options, limits.min), "least number of workers (default: 0)"},
    {"--max", "N", KIND_COUNT, offsetof(struct scaler_options, limits.max),
     "upper bound, including workers that are draining (default: 4)"},
    {"--step", "N", KIND_COUNT, offsetof(struct scaler_options, limits.step),
     "most workers being started at once (default: 1 or as many as are running; with a hook: --max)"},
    {"--after", "DURATION", KIND_DURATION, offsetof(struct scaler_options, limits.after_ms),
     "time that jobs wait before another worker is started (default: 1s)"},
    {"--idle", "DURATION", KIND_DURATION, offsetof(struct scaler_options, limits.idle_ms),
     "idle time after which a worker is drained (default: 60s)"},
    {"--data", "DIR", KIND_TEXT, offsetof(struct scaler_options, data),
     "directory for data and logs of its workers (default: .reeve-scaler)"},
    {"--hook", "COMMAND", KIND_TEXT, offsetof(struct scaler_options, hook),
     "start no workers here; call this command with the wanted number, as JSON on standard input"},
    {"--hook-timeout", "DURATION", KIND_DURATION, offsetof(struct scaler_options, hook_timeout_ms),
     "timeout of the hook, after which it is killed and called again (default: 60s)"},
    {"--hook-patience", "DURATION", KIND_DURATION, offsetof(struct scaler_options, hook_patience_ms),
     "time after which a worker that did not start is requested again (default: 5m)"},
};
#define OPTION_COUNT (sizeof options / sizeof options[0])

static const struct scaler_option *option_of(const char *name) {
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strcmp(options[i].name, name) == 0) return &options[i];
    return NULL;
}

static enum err take(struct scaler_options *o, const struct scaler_option *option, const char *value, struct why *why) {
    char *at = (char *)o + option->at;
    int64_t n = 0;
    switch (option->kind) {
    case KIND_TEXT: *(const char **)at = value; return ERR_OK;
    case KIND_COUNT:
        if (!spec_number(slice_str(value), &n) || n < 0 || n > FLEET_MAX)
            return why_set(why, ERR_INVALID, "%s: expected a number up to %u, found `%s`", option->name, FLEET_MAX,
                           value);
        *(uint32_t *)at = (uint32_t)n;
        return ERR_OK;
    case KIND_DURATION:
        if (!spec_duration(slice_str(value), &n) || n < 0)
            return why_set(why, ERR_INVALID, "%s: expected a duration like 90s or 5m, found `%s`", option->name, value);
        *(int64_t *)at = n;
        return ERR_OK;
    }
    return ERR_OK;
}

enum err scaler_range_read(const char *text, uint32_t *ret_min, uint32_t *ret_max, struct why *why) {
    const char *dots = strstr(text, "..");
    int64_t min = 0, max = 0;
    bool good = spec_number(slice_str(dots != NULL ? dots + 2 : text), &max);
    if (dots != NULL) good = good && spec_number(slice_of(text, (size_t)(dots - text)), &min);
    if (!good || min < 0 || max < 1 || max > FLEET_MAX || min > max)
        return why_set(why, ERR_INVALID, "--workers: expected a range like 1..8, up to %u, found `%s`", FLEET_MAX,
                       text);
    *ret_min = (uint32_t)min;
    *ret_max = (uint32_t)max;
    return ERR_OK;
}

/* Where it lives and who it is each worker is told for itself; a token goes by the environment, which is not public. */
static bool is_handed_on(const char *name) {
    return strcmp(name, "--data") != 0 && strcmp(name, "--name") != 0 && strcmp(name, "--token") != 0;
}

/* Reading changes the arguments (labels are cut at their `=`, tokens blotted out), so they are kept as they were. */
static enum err keep(struct scaler_options *o, const char *text, struct why *why) {
    if (o->worker_arg_count == SCALER_ARGS_MAX)
        return why_set(why, ERR_LIMIT, "more than %d arguments", SCALER_ARGS_MAX);
    size_t len = strlen(text) + 1;
    if (len > sizeof o->text - o->text_used) return why_set(why, ERR_LIMIT, "the arguments are too long");
    o->worker_args[o->worker_arg_count++] = memcpy(o->text + o->text_used, text, len);
    o->text_used += len;
    return ERR_OK;
}

/* What is not ours is the worker's, with the value behind it if it has one. */
static enum err hand_on(struct scaler_options *o, int count, char **args, int *at, char **theirs, int *their_count,
                        struct why *why) {
    bool with_value = worker_options_has_value(args[*at]) && *at + 1 < count;
    bool handed_on = is_handed_on(args[*at]);
    enum err e = ERR_OK;
    for (int i = 0; i <= with_value && e == ERR_OK; i++) {
        if (handed_on) e = keep(o, args[*at + i], why);
        theirs[(*their_count)++] = args[*at + i];
    }
    *at += with_value;
    return e;
}

static enum err check(const struct scaler_options *o, struct why *why) {
    if (o->limits.max == 0) return why_set(why, ERR_INVALID, "--max: expected at least 1");
    if (o->limits.min > o->limits.max)
        return why_set(why, ERR_INVALID, "--min %u is more than --max %u", o->limits.min, o->limits.max);
    if (strlen(o->data) + 32 > WORKER_PATH_MAX) return why_set(why, ERR_LIMIT, "--data: the path is too long");
    if (o->hook != NULL && o->hook[0] == 0) return why_set(why, ERR_INVALID, "--hook: expected a command");
    return ERR_OK;
}

bool scaler_options_divides(const struct scaler_options *o) {
    return o->hook == NULL && o->limits.max > 1;
}

enum err scaler_options_read(struct scaler_options *o, int count, char **args, const char *build, struct why *why) {
    static char *theirs[SCALER_ARGS_MAX + 5], data_name[] = "--data", data[WORKER_PATH_MAX];
    static char share_name[] = "--share", share[16];
    int their_count = 2; /* the first two are for the share: one that was given goes over it */
    *o = (struct scaler_options){
        .data = ".reeve-scaler",
        .limits = {.max = MAX_STANDARD, .idle_ms = IDLE_MS_STANDARD, .after_ms = AFTER_MS_STANDARD},
        .hook_timeout_ms = HOOK_TIMEOUT_MS_STANDARD,
        .hook_patience_ms = HOOK_PATIENCE_MS_STANDARD};
    if (count > SCALER_ARGS_MAX) return why_set(why, ERR_LIMIT, "more than %d arguments", SCALER_ARGS_MAX);
    enum err e = ERR_OK;
    for (int i = 0; i < count && e == ERR_OK; i++) {
        const struct scaler_option *option = option_of(args[i]);
        if (option == NULL) {
            e = hand_on(o, count, args, &i, theirs, &their_count, why);
        } else if (i + 1 == count) {
            e = why_set(why, ERR_INVALID, "%s needs a value", args[i]);
        } else {
            e = take(o, option, args[i + 1], why);
            i++;
        }
    }
    if (o->limits.step == 0) o->limits.step = o->hook != NULL ? o->limits.max : 1;
    if (e == ERR_OK) e = check(o, why);
    snprintf(data, sizeof data, "%s", o->data); /* what it tries out it may put there */
    theirs[their_count++] = data_name;
    theirs[their_count++] = data;
    bool divides = scaler_options_divides(o);
    snprintf(share, sizeof share, "1/%u", o->limits.max);
    theirs[0] = share_name, theirs[1] = share;
    if (e == ERR_OK)
        e = worker_foresee(their_count - (divides ? 0 : 2), theirs + (divides ? 0 : 2), build, o->hook != NULL,
                           &o->worker, why);
    o->help = e == ERR_OK && o->worker.options->help;
    if (e == ERR_OK && o->worker.options->tls.cert == NULL) o->name = o->worker.options->host;
    return e;
}

void scaler_options_help(void) {
    printf("usage: reeve scaler [OPTION]... [OPTION OF WORKERS]...\n\n"
           "Starts workers while jobs wait for them, and drains idle ones.\n\n");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", options[i].name, options[i].value);
        printf("  %-26s %s\n", left, options[i].help);
    }
    printf("\nAll other options are passed to each worker (see `reeve worker --help`): --pool, --slots,\n--capability, "
           "--server and so on.\n");
}
