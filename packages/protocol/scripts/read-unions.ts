/** One arm of the generated `ClientRequest`, `ServerRequest` or `ServerNotification` union. */
export interface UnionArm {
  readonly method: string;
  /** The type expression of `params`. Undefined if the message has none. */
  readonly params: string | undefined;
}

const METHOD = /"method": "(?<method>[^"]+)"/g;
const ARM =
  /\{ ?"method": "(?<method>[^"]+)"(?:, id: RequestId)?(?:, "?params"?\??: (?<params>[^{}]+?))?,? ?\}/g;

/**
 * Parses the arms of a generated union, which have the form `{ "method": "a/b", id: RequestId, params: T, }`. Throws for any other
 * form, so that no method of a new release is silently lost.
 */
export function readUnion(name: string, source: string): UnionArm[] {
  const body = source.slice(source.indexOf(`export type ${name} =`));
  const arms = [...body.matchAll(ARM)].map(({ groups = {} }) => ({
    method: groups["method"] ?? "",
    params: groups["params"] === "undefined" ? undefined : groups["params"],
  }));
  const read = new Set(arms.map((arm) => arm.method));
  const missed = [...body.matchAll(METHOD)]
    .map(({ groups }) => groups?.["method"] ?? "")
    .filter((method) => !read.has(method));
  if (missed.length > 0) throw new Error(`${name}: could not read the arm of ${missed.join(", ")}`);
  if (arms.length === 0) throw new Error(`${name}: no methods found; did the generator change its format?`);
  return arms;
}
