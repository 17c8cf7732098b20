// Fires a schedule for slots of the past.
import { useState } from "preact/hooks";

import { pathOf, post } from "../../api/client";
import { Dialog, serverNow } from "../../ui/parts";
import { say, tried } from "../../ui/toast";

export function Backfill({ name, onClose, reload }: { name: string | undefined; onClose: () => void; reload: () => void }) {
  const [since, setSince] = useState("");
  const [until, setUntil] = useState("");
  const [problem, setProblem] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    const body = { since_ms: new Date(since).getTime(), until_ms: until === "" ? serverNow() : new Date(until).getTime() };
    const refusal = await tried(() => post(`/schedules/${pathOf(name ?? "")}/backfill`, body));
    setProblem(refusal);
    if (refusal !== "") return;
    say(`${name} fires for the past`);
    onClose();
    reload();
  };
  return (
    <Dialog title={`Backfill ${name ?? ""}`} open={name !== undefined} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <p class="hint">A flow is made for each slot between these moments, as if they came now. Times are of your zone.</p>
        <div class="pair">
          <label>From<input required type="datetime-local" value={since} onInput={(event) => setSince(event.currentTarget.value)} /></label>
          <label>Until (now, if empty)<input type="datetime-local" value={until} onInput={(event) => setUntil(event.currentTarget.value)} /></label>
        </div>
        {problem === "" ? null : <p class="problem" role="alert">{problem}</p>}
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>Close</button>
          <button type="submit" class="primary">Backfill</button>
        </div>
      </form>
    </Dialog>
  );
}
