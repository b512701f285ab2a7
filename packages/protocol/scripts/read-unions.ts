/** One arm of the generated `ClientRequest`, `ServerRequest` or `ServerNotification` union. */
export interface UnionArm {
  readonly method: string;
  /** The type expression of `params`, or `undefined` where the message has none. */
  readonly params: string | undefined;
}

const METHOD = /"method": "(?<method>[^"]+)"/g;
const ARM =
  /\{ ?"method": "(?<method>[^"]+)"(?:, id: RequestId)?(?:, "?params"?\??: (?<params>[^{}]+?))?,? ?\}/g;

/**
 * Reads the arms of a generated union. The generator prints each as `{ "method": "a/b", id: RequestId, params: T, }`; an
 * arm of any other form is an error, so that a new release can't drop a method silently.
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
