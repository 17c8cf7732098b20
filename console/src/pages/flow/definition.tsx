// The file that a flow was submitted from, as it was, and running it again with other parameters.
import { useEffect, useState } from "preact/hooks";

import { post, save, text, type ApiError, type FlowView } from "../../api/client";
import { flowPath, navigate } from "../../router";
import { ParameterField, parametersOf, type Parameter } from "../../ui/parameters";
import { Dialog, Problem } from "../../ui/parts";
import { act, say } from "../../ui/toast";

const sourceOf = (view: FlowView): Promise<string> => text(`${flowPath(view.flow ?? "")}/source`);
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

export const givenOf = (view: FlowView): Record<string, unknown> => (isObject(view.params) ? view.params : {});

export function Definition({ view }: { view: FlowView }) {
  const [shown, setShown] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const name = view.source_name || "flow.yaml";
  const load = () => {
    setError(undefined);
    sourceOf(view).then(setShown, setError);
  };
  useEffect(load, [view.flow]);
  if (error !== undefined) return <Problem error={error} retry={load} />;
  if (shown === undefined) return <p class="loading" role="status">Loading the file…</p>;
  return (
    <section class="definition" aria-label="Definition">
      <div class="actions">
        <span class="mono">{name}</span>
        <button type="button" onClick={() => save(new Blob([shown], { type: "text/plain" }), name)}>
          Download
        </button>
      </div>
      <pre class="definition-text" tabIndex={0}>
        {shown}
      </pre>
    </section>
  );
}

/** What was typed; a field that was emptied keeps the value that the flow had, unless that is a text. */
const given = (params: Parameter[], typed: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(typed).filter(([name, value]) => value !== "" || params.find((one) => one.name === name)?.type === "string"));

/** Asks for the parameters, and submits the file once more; of a flow without one, its jobs. */
export function RunAgain({ view }: { view: FlowView }) {
  const [params, setParams] = useState<Parameter[]>();
  const [values, setValues] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const ask = async () => {
    const { readText } = await import("../constructor/yaml"); // which few pages need
    setValues({});
    if (view.source === undefined) setParams([]);
    else setParams(parametersOf(readText(await sourceOf(view)), givenOf(view)));
  };
  const run = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    await act(async () => {
      const made = await post<{ flow: string }>(`${flowPath(view.flow ?? "")}/again`, { params: given(params ?? [], values) });
      say(`${made.flow} was accepted.`);
      setParams(undefined);
      navigate(flowPath(made.flow));
    });
    setBusy(false);
  };
  return (
    <>
      <button type="button" onClick={() => void act(ask)}>
        Run again…
      </button>
      <Dialog title={`Run ${view.name ?? view.flow ?? ""} again`} open={params !== undefined} onClose={() => setParams(undefined)}>
        <form onSubmit={(event) => void run(event)}>
          <p>
            {view.source === undefined
              ? "There is no file: its jobs run as another flow, as they were submitted."
              : params?.length === 0
                ? "The same file runs as another flow."
                : "The same file runs as another flow, with these parameters."}
          </p>
          {params?.map((one) => (
            <ParameterField key={one.name} parameter={one} value={values[one.name] ?? one.value} onChange={(value) => setValues({ ...values, [one.name]: value })} />
          ))}
          <div class="actions">
            <button type="submit" class="primary" disabled={busy}>
              Run again
            </button>
            <button type="button" onClick={() => setParams(undefined)}>
              Leave it
            </button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
