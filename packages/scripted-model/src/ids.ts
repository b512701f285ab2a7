/** Generates ids in order, so that a script can predict them: `call_1`, `call_2`, … */
export type NextId = (kind: "resp" | "msg" | "rs" | "call" | "cell") => string;

export function idSequence(prefix: string): NextId {
  const counts = { resp: 0, msg: 0, rs: 0, call: 0, cell: 0 };
  return (kind) => `${kind}_${prefix}${++counts[kind]}`;
}
