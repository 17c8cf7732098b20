// What can be done to a job in its state.
import { useState } from "preact/hooks";

import { pathOf, post, type JobView, type Schemas } from "../../api/client";
import { may } from "../../api/session";
import { ask } from "../../ui/confirm";
import { Dialog } from "../../ui/parts";
import { Copied, Facts } from "../../ui/show";
import { stateInfo } from "../../ui/states";
import { act, say, tried } from "../../ui/toast";

interface ActionProps {
  job: JobView;
  target: string;
  reload: () => void;
}

/** Ends an external job with the word that it waits for. */
function Complete({ target, open, onClose, reload }: { target: string; open: boolean; onClose: () => void; reload: () => void }) {
  const [output, setOutput] = useState("");
  const [failed, setFailed] = useState(false);
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    const body: Record<string, unknown> = {};
    try {
      if (output.trim() !== "") body.output = JSON.parse(output);
    } catch (error) {
      setProblem(`the output is no JSON: ${error instanceof Error ? error.message : ""}`);
      return;
    }
    if (failed) body.failed = true;
    if (reason !== "") body.reason = reason;
    const refusal = await tried(() => post(`/jobs/${pathOf(target)}/complete`, body));
    setProblem(refusal);
    if (refusal !== "") return;
    say(`${target} ${failed ? "failed" : "completed"}`);
    onClose();
    reload();
  };
  return (
    <Dialog title={`Complete ${target}`} open={open} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Output (JSON, may be empty)
          <textarea value={output} onInput={(event) => setOutput(event.currentTarget.value)} placeholder='{"stars": 5}' />
        </label>
        <label class="check"><input type="checkbox" checked={failed} onChange={(event) => setFailed(event.currentTarget.checked)} />It failed</label>
        <label>Reason<input value={reason} onInput={(event) => setReason(event.currentTarget.value)} /></label>
        {problem === "" ? null : <p class="problem" role="alert">{problem}</p>}
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>Close</button>
          <button type="submit" class={failed ? "danger" : "primary"}>{failed ? "Fail it" : "Complete it"}</button>
        </div>
      </form>
    </Dialog>
  );
}

/** A token by which someone outside can say it, shown once. */
function Callback({ target }: { target: string }) {
  const [given, setGiven] = useState<Schemas["callback_given"]>();
  const fetchToken = async () => setGiven(await act(() => post<Schemas["callback_given"]>(`/jobs/${pathOf(target)}/callback`, {})));
  return (
    <>
      <button type="button" onClick={() => void fetchToken()}>Callback…</button>
      <Dialog title="Callback" open={given !== undefined} onClose={() => setGiven(undefined)}>
        <p>A POST to this address with the token ends the job; the token gives no other right. It is shown once.</p>
        <Facts of={[["POST", given?.url && <Copied text={given.url} />], ["token", given?.token && <Copied text={given.token} />]]} />
      </Dialog>
    </>
  );
}

export function JobActions({ job, target, reload }: ActionProps) {
  const [completing, setCompleting] = useState(false);
  const over = stateInfo(job.state).over;
  if (!may("operator", "submitter")) return null;
  const run = async (verb: string, done: string, question?: Parameters<typeof ask>[0]) => {
    const note = question === undefined ? "" : await ask(question);
    if (note === null) return;
    await act(() => post(`/jobs/${pathOf(target)}/${verb}`, note === "" ? {} : { reason: note }), done);
    reload();
  };
  const cancel = () =>
    run("cancel", `${target} is cancelled`, {
      title: `Cancel ${target}?`, text: "Its processes are ended, and the jobs that need it do not run.", action: "Cancel the job", danger: true, note: "Reason",
    });
  const discard = () =>
    run("discard", `${target} is discarded`, {
      title: `Discard ${target}?`, text: "It leaves the dead letters; it stays in the history of its flow.", action: "Discard", danger: true, note: "Reason",
    });
  return (
    <>
      {job.kind === "external" && !over ? <button type="button" class="primary" onClick={() => setCompleting(true)}>Complete…</button> : null}
      {job.kind === "external" && !over ? <Callback target={target} /> : null}
      {job.dead_letter ? <button type="button" class="primary" onClick={() => void run("retry", `${target} starts again`)}>Retry</button> : null}
      {job.dead_letter ? <button type="button" class="danger" onClick={() => void discard()}>Discard</button> : null}
      {!over ? <button type="button" class="danger" onClick={() => void cancel()}>Cancel</button> : null}
      <Complete target={target} open={completing} onClose={() => setCompleting(false)} reload={reload} />
    </>
  );
}
