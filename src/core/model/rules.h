/* rules.h: the constants that apply obeys. They are part of the format, not of the configuration: the meaning of a
 * journal depends on them, so a replay after ten years must use the numbers that were in force when it was written.
 *
 * A change here, as any change of what apply does with old records, raises RULES_VERSION and keeps the old rule beside
 * the new one: a flow carries the version that it was born under (flow.rules), and apply asks the flow. Settings are
 * the opposite kind of number: limit.h has them, binds decide, and is not to be seen from here. */
#ifndef REEVE_RULES_H
#define REEVE_RULES_H

/* The version of the rules in apply.
 *
 *   1  the first
 *   2  the attempts of a job are remembered (attempt_notes.h)
 *   3  what happens is counted (tally.h)
 *   4  jobs have triggers and say what is tried again; a flow says what is compensated
 *   5  a deployment begins when everything else of its record is through
 *   6  a service remembers its versions (service_versions.h), a flow has stages, a timeout and a deadline, and the
 *      children of a foreach job that ends in the record of its reset are reset all the same */
#define RULES_VERSION 6u
#define NOTE_RULES 2u
#define TALLY_RULES 3u
#define DEPLOY_RULES 5u
#define VERSION_RULES 6u
#define CHILDREN_RULES 6u

/* How many steps (a job or an edge) one record may visit before the rest is kept as a cursor. */
#define STEP_JOBS_MAX 4096

/* How long workers may take to confirm that they stopped what an unwinding flow calls off. */
#define UNWIND_CONFIRM_MS 60000

/* How much is remembered: what became of the last slots of a schedule, the last attempts of a job, and the text that a
 * worker gave as the reason of an end, the versions of a service. Older notes leave, longer texts are cut. */
#define SCHEDULE_NOTES 16u
#define SERVICE_VERSIONS 8u
#define NOTES_PER_JOB 16u
#define NOTE_REASON_BYTES 256u

/* Numbers of replicas are 1 to this. */
#define REPLICAS_MAX 256u

/* How many keys of one schedule may wait. Changes of further ones are counted with the newest that does. */
#define CAUSE_KEYS_MAX 1024u

#endif
