// Flow files as text. YAML 1.2, of which JSON is a part; the server takes JSON, so the text is read here.
import { parseDocument, stringify } from "yaml";

import type { Json, Keys } from "./draft";

export class TextError extends Error {
  constructor(
    message: string,
    readonly line: number, // from 1 on; 0: none in particular
  ) {
    super(message);
  }
}

export function readText(text: string): Json {
  const document = parseDocument(text, { version: "1.2", merge: false, prettyErrors: true });
  const error = document.errors[0];
  if (error !== undefined) throw new TextError(error.message.split("\n")[0]!.replace(/ at line.*$/, ""), error.linePos?.[0].line ?? 0);
  return document.toJS({ maxAliasCount: 100 }) as Json;
}

export function yamlOf(file: Keys): string {
  return stringify(file, { version: "1.2", lineWidth: 100, defaultStringType: "PLAIN", nullStr: "", flowCollectionPadding: false });
}

export const jsonOf = (file: Keys): string => `${JSON.stringify(file, null, 2)}\n`;
