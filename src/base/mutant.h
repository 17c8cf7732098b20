/* mutant.h: deliberate defects, compiled in only for the mutation test (-DREEVE_MUTANTS), where the simulator must
 * catch each of them, and `reeve crashtest` those that can be seen from outside. In every other build MUTANT(x) is the
 * constant false. One table: the test walks it. */
#ifndef REEVE_MUTANT_H
#define REEVE_MUTANT_H

#include <stdbool.h>

/* clang-format off */
#define MUTANT_TABLE(X)                                                                         \
    X(none, "the product as it is")                                                             \
    X(forget_cascade, "apply does not fail the descendants of a failed job")                    \
    X(early_effect, "an effect leaves before its record is synced")                             \
    X(early_answer, "an acceptance leaves before its record is synced")                         \
    X(early_rejection, "a rejection leaves before the state it was computed from is synced")    \
    X(stale_attempt, "a completion of an earlier attempt is accepted")                          \
    X(sync_error_ignored, "a failed sync is taken for success")                                 \
    X(forget_dispatch, "resume does not send outstanding dispatches again")                     \
    X(lease_kept, "lease clocks run on across a restart instead of starting anew")              \
    X(double_unlock, "a child is released by its first parent")                                 \
    X(skip_counts_as_failure, "a skipped parent ends a job that needs none to have failed")     \
    X(first_failure_counts, "a job that needs one success ends with the first failure")         \
    X(retry_past_budget, "a job gets one attempt more than its retries allow")                  \
    X(retry_on_ignored, "an end that the job does not want tried again is tried again")         \
    X(free_loss_despite_retry_on, "a loss costs no retry though no loss is to be tried again")  \
    X(key_forgotten, "an idempotency key is not recorded with its flow")                        \
    X(exclusive_ignored, "an exclusive job is given away while its first attempt may run")      \
    X(slots_ignored, "a worker gets one job more than it has slots")                            \
    X(verdict_unfenced, "a verdict about another revision is accepted")                         \
    X(deadline_forgotten, "a snapshot drops job deadlines")                                     \
    X(store_expired_served, "a key whose time is over is served until the tick comes to it")    \
    X(store_cas_ignored, "a compare-and-set sets whatever it finds")                            \
    X(store_count_wrong, "adding members answers how many were given, not how many were new")   \
    X(store_expiry_forgotten, "a snapshot drops when a key expires")                            \
    X(store_flow_kept, "the keys of a flow stay when it is forgotten")                          \
    X(compensation_twice, "the first compensation of an unwinding stays on the list")           \
    X(compensation_order, "compensations run first entered first")                              \
    X(compensation_lost, "a job that succeeds while its flow unwinds is not entered")           \
    X(failure_not_compensated, "a flow that compensates every failure waits for a fatal one")   \
    X(late_success_kept, "what succeeds beside a failed job is not undone with the rest")       \
    X(finally_missed, "the finally jobs of a flow that is cancelled do not run")                \
    X(finally_before_undo, "finally begins before everything is undone")                        \
    X(finally_once, "a flow that starts again does not run its finally jobs again")             \
    X(both_outcomes, "on_failure runs though the main jobs succeeded")                          \
    X(flow_timer_forgotten, "the timeout of a flow is forgotten by a restart")                  \
    X(limit_off_by_one, "a concurrency key lets one attempt more pass than it is wide")         \
    X(key_not_returned, "the end of an attempt does not give its concurrency keys back")        \
    X(rate_refilled_twice, "a rate gets twice the tokens that the time since brought")          \
    X(limit_forgotten, "a snapshot drops the limits that were set"        )                     \
    X(running_unlimited, "the limit on running attempts of a tenant is not looked at")          \
    X(room_ignored, "a submit is accepted though its tenant has too much queued")               \
    X(service_restarted, "a service that was stopped is started again")                         \
    X(old_version_counts, "the health of another version counts for the one being deployed")    \
    X(service_not_rolled_back, "a version that did not become healthy stays")                   \
    X(drain_ignored, "a service stays on a worker that drains")                                 \
    X(version_never_accepted, "a service does not remember that a version was healthy")         \
    X(version_end_lost, "a service does not remember that a version ended")                     \
    X(old_stopped_first, "a version that starts first stops the old one before it is healthy")  \
    X(old_version_kept, "the old version runs on when one that started first is healthy")       \
    X(overlap_forgotten, "a snapshot drops that two versions of a service may run")             \
    X(scaled_down_low, "scaling down removes the lowest replicas, not the highest")             \
    X(child_twice, "a child of a foreach job that succeeded is begun once more")                \
    X(allow_off_by_one, "a foreach job tolerates one bad child more than it says")              \
    X(parallel_off_by_one, "one child more than max_parallel is under way")                     \
    X(false_condition_runs, "a job whose condition does not hold runs all the same")            \
    X(expansion_forgotten, "a snapshot takes children that ended badly for good ones")          \
    X(grant_kept, "a permission of an earlier policy counts for attempts after its change")     \
    X(old_policy_heard, "a verdict by an earlier version of the policy is accepted")            \
    X(forgot_unprojected, "a flow leaves memory before the history has its end")                \
    X(dead_letter_forgotten, "a flow leaves memory with a dead letter nobody has seen")         \
    X(revocation_forgotten, "after a restart a token that was revoked opens doors again")       \
    X(ticket_twice, "a login link that was used can be used again")                             \
    X(agent_approves, "an agent's approval counts")                                             \
    X(tenant_role_everywhere, "a token of one tenant is taken for one of all")                  \
    X(expired_key_served, "a submit is answered from an idempotency key whose time is over")    \
    X(memo_expired_served, "a result is used again after its time")                             \
    X(memo_quarantined_served, "a result that was quarantined is used again")                   \
    X(slot_fired_twice, "a slot of a schedule fires and is not remembered")                     \
    X(catch_up_lost, "a slot that was missed vanishes instead of being caught up")              \
    X(overlap_ignored, "a slot fires while the flow of an earlier one is running")              \
    X(asked_takes_slot, "a run that a person asks for makes slots vanish")                      \
    X(calendar_ignored, "a slot fires on a day that the calendar of its schedule leaves out")   \
    X(excluded_takes_more, "the slot behind an excluded day vanishes with it")                  \
    X(cause_of_any_tenant, "a key of another tenant starts the flow of a schedule")             \
    X(change_started_twice, "a change of a key starts a flow and is not taken away")            \
    X(interval_ignored, "a key starts a schedule again before its interval is over")            \
    X(changes_forgotten, "a snapshot drops the changes of keys that wait for their flow")       \
    X(source_swept, "the file that a flow names is collected with what nothing names")          \
    X(source_of_another, "a flow names the file of the flow before it")                         \
    X(source_forgotten, "a flow that a schedule made does not name the file of its schedule")   \
    X(zone_forgotten, "a flow does not know the time zone of its slot")                         \
    X(tenant_ignored, "a worker gets jobs of tenants that it does not serve")                   \
    X(done_before_log, "an end is recorded before the log that it names is durable")            \
    X(log_acked_early, "the server acknowledges output before it is durable")                   \
    X(keeper_unset, "the keeper of an exclusive process is not told when the lease ends")       \
    X(end_forgotten, "a worker forgets an end when it was said, not when it was acknowledged")  \
    X(attach_by_state, "a connection whose attach was refused counts as the worker of that id") \
    X(effects_over_reopen, "effects of an engine that was lost leave when its shard is opened again") \
    X(call_over_reopen, "a call is answered though its shard was lost and is opened again")     \
    X(old_epoch_after_reopen, "a shard that is opened again goes on with its old epoch")        \
    X(checkpoint_over_less, "a checkpoint does not cover the first record of each batch")       \
    X(checkpoint_forgotten, "a snapshot drops the newest checkpoint")

enum mutant {
#define X(name, text) MUTANT_##name,
    MUTANT_TABLE(X)
#undef X
    MUTANT_COUNT
};
/* clang-format on */

#ifdef REEVE_MUTANTS
extern enum mutant mutant_active;
extern const char *const mutant_words[MUTANT_COUNT];
bool mutant_choose(const char *name); /* false: there is none of this name */
#define MUTANT(name) (mutant_active == MUTANT_##name)
#else
#define MUTANT(name) false
#endif

#endif
