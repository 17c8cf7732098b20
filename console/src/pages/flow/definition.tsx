// The file that a flow was submitted from, as it was, and running it again with other parameters.
import { useEffect, useState } from "preact/hooks";

import { post, save, text, type ApiError, type FlowView } from "../../api/client";
import { flowPath, navigate } from "../../router";
import { Dialog, Problem } from "../../ui/parts";
import { act, say } from "../../ui/toast";

interface Parameter {
  name: string;
  value: string; // that the flow had
  choices: string[];
}

const sourceOf = (view: FlowView): Promise<string> => text(`${flowPath(view.flow ?? "")}/source`);
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Those that the file declares, each with the value that it had in this flow. */
export function parametersOf(file: unknown, given: Record<string, unknown>): Parameter[] {
  const declared = isObject(file) && isObject(file["params"]) ? file["params"] : {};
  return Object.entries(declared).map(([name, one]) => {
    const detailed = isObject(one) ? one : { default: one };
    const value = given[name] ?? detailed["default"] ?? "";
    const choices = Array.isArray(detailed["choices"]) ? detailed["choices"].map(String) : [];
    return { name, value: String(value), choices };
  });
}

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

/** Asks for the parameters, and submits the file once more. */
export function RunAgain({ view }: { view: FlowView }) {
  const [params, setParams] = useState<Parameter[]>();
  const [values, setValues] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const ask = async () => {
    const { readText } = await import("../constructor/yaml"); // which few pages need
    setValues({});
    setParams(parametersOf(readText(await sourceOf(view)), givenOf(view)));
  };
  const run = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    await act(async () => {
      const made = await post<{ flow: string }>(`${flowPath(view.flow ?? "")}/again`, { params: values });
      say(`${made.flow} was accepted.`);
      setParams(undefined);
      navigate(flowPath(made.flow));
    });
    setBusy(false);
  };
  const set = (name: string) => (event: { currentTarget: { value: string } }) => setValues({ ...values, [name]: event.currentTarget.value });
  return (
    <>
      <button type="button" onClick={() => void act(ask)}>
        Run again…
      </button>
      <Dialog title={`Run ${view.name ?? view.flow ?? ""} again`} open={params !== undefined} onClose={() => setParams(undefined)}>
        <form onSubmit={(event) => void run(event)}>
          <p>{params?.length === 0 ? "The same file runs as another flow." : "The same file runs as another flow, with these parameters."}</p>
          {params?.map(({ name, value, choices }) => (
            <label key={name}>
              {name}
              {choices.length > 0 ? (
                <select value={values[name] ?? value} onChange={set(name)}>
                  {choices.map((choice) => (
                    <option key={choice}>{choice}</option>
                  ))}
                </select>
              ) : (
                <input value={values[name] ?? value} spellcheck={false} onInput={set(name)} />
              )}
            </label>
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
