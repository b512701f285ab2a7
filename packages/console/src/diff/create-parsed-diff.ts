import { type Accessor, createEffect, createSignal, on, onCleanup } from "solid-js";
import type { ParsedDiff } from "./parse-diff.ts";
import { parseInSlices } from "./parse-in-slices.ts";

/** Parses in slices whenever the source changes. The last result stays until the next one is complete. */
export function createParsedDiff<Source>(
  source: Accessor<Source>,
  parse: (source: Source) => Generator<undefined, ParsedDiff, undefined>,
): Accessor<ParsedDiff | undefined> {
  const [parsed, setParsed] = createSignal<ParsedDiff>();
  createEffect(
    on(source, (current) => {
      const controller = new AbortController();
      onCleanup(() => controller.abort());
      parseInSlices(parse(current), controller.signal).then(setParsed, (error: unknown) => {
        if (!controller.signal.aborted) throw error;
      });
    }),
  );
  return parsed;
}
