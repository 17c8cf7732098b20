/* audit_journal.c: see audit_journal.h. */
#include "audit_journal.h"

#include <stdio.h>

#include "journal_engine.h"
#include "ossigner.h"
#include "settings.h"

enum err audit_journal(const char *data, struct cli_journal *ret, struct why *why) {
    struct journal_located l;
    enum err e = journal_engine_locate(data, &l, why);
    if (e == ERR_OK) *ret = (struct cli_journal){l.reader, l.disk};
    return e;
}

void audit_journal_close(struct cli_journal *j) {
    struct journal_located l = {.disk = j->disk, .reader = j->reader};
    journal_located_close(&l);
}

enum err audit_key(const char *data, uint8_t ret[], struct why *why) {
    char path[SETTING_TEXT_MAX + 32];
    snprintf(path, sizeof path, "%s/" AUDIT_KEY_FILE, data);
    enum err e = ossigner_public(path, ret, why);
    if (e != ERR_NOT_FOUND) return e;
    return why_set(why, e, "%s: the server has made no key yet: it does when it starts (see audit_checkpoint_s)", path);
}
