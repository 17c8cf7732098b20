/* replay_child.c: see replay_child.h. */
#include "replay_child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "event_replay.h"
#include "journal_engine.h"
#include "oschild.h"
#include "osreplay.h"
#include "told_upto.h"

static enum err out_more(struct byte_sink *s, const void *from, size_t len, struct why *why) {
    const uint8_t *at = from;
    (void)s;
    while (len > 0) {
        ssize_t n = write(STDOUT_FILENO, at, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return why_set(why, ERR_IO, "output: %s", strerrordesc_np(errno));
        at += n;
        len -= (size_t)n;
    }
    return ERR_OK;
}

bool replay_child_is(int argc, char **argv) {
    return argc == 7 && strcmp(argv[1], OSREPLAY_CHILD) == 0;
}

int replay_child_run(char **argv) {
    struct journal_located journal;
    struct why why = {{0}}, ignored;
    struct byte_sink out = {out_more};
    struct event_replay_spec spec = {.after = {strtoull(argv[3], NULL, 10), (uint32_t)strtoul(argv[4], NULL, 10)},
                                     .flow = strtoull(argv[5], NULL, 10),
                                     .most = (uint32_t)strtoul(argv[6], NULL, 10)};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* of the thread that waits for us, which goes with its process */
    oschild_background();
    if (journal_engine_locate(argv[2], &journal, &why) != ERR_OK) {
        fprintf(stderr, "reeve: events of the past: %s\n", why.text);
        return 1;
    }
    told_upto_listen();
    struct event_replay *r = event_replay_new(journal.reader, &spec, &out);
    enum err e = ERR_OK;
    for (uint64_t upto = 0; e == ERR_OK;) {
        upto = told_upto_next(upto);
        e = event_replay_upto(r, upto, &why);
    }
    (void)!event_replay_fail(r, &why, &ignored);
    event_replay_free(r);
    journal_located_close(&journal);
    return 1;
}
