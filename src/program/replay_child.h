/* replay_child.h: the child that tells the past again (os/osreplay.h starts it, server/history/event_replay.h is what
 * it does). */
#ifndef REEVE_REPLAY_CHILD_H
#define REEVE_REPLAY_CHILD_H

#include <stdbool.h>

bool replay_child_is(int argc, char **argv); /* these are its arguments; then main has nothing else to do */
int replay_child_run(char **argv);           /* its exit code */

#endif
