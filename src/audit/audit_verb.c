/* audit_verb.c: see audit_verb.h. */
#include "audit_verb.h"

#include "panic.h"

/* clang-format off */
static const struct audit_verb verbs[REC_KIND_END] = {
#define X(kind, verb, class, activity, object) [kind] = {verb, OCSF_##class, OCSF_##activity, object},
    AUDIT_VERB_TABLE(X)
#undef X
};

/* A kind without a row of its own is called as its record is. */
static const struct audit_verb others[REC_KIND_END] = {
#define X(kind, number, type, word, text) [kind] = {word, OCSF_API, OCSF_OTHER, "record"},
    RECORD_TABLE(X)
#undef X
};
/* clang-format on */

const struct audit_verb *audit_verb_of(enum record_kind kind) {
    REQUIRE((unsigned)kind < REC_KIND_END && others[kind].verb != NULL);
    return verbs[kind].verb != NULL ? &verbs[kind] : &others[kind];
}

const char *audit_class_name(enum ocsf_class class) {
    switch (class) {
    case OCSF_SCHEDULED: return "Scheduled Job Activity";
    case OCSF_ACCOUNT: return "Account Change";
    case OCSF_AUTH: return "Authentication";
    case OCSF_LIFECYCLE: return "Application Lifecycle";
    case OCSF_API: return "API Activity";
    }
    PANIC("a class that is in no row");
}
