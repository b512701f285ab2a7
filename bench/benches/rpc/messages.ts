/** A JSON-RPC message as the app-server writes it, without the `jsonrpc` member. */
export interface AppServerMessage {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const THREAD = "0199b3c2-7f7e-7c41-9c1b-2d6a4f0e8a11";
const TURN = "0199b3c2-8a05-7d93-b1e4-55c09a7f3e20";

/**
 * Text as models write it, in the pieces in which it arrives. One in eight is not ASCII, as in real answers.
 */
const PIECES = [
  "The failing test expects",
  " `parseConfig` to keep",
  " unknown keys,\n\nbut the",
  " loader drops them — see",
  ' "src/config/load.ts"',
  " line 42. I will change",
  " the merge so that each",
  " layer wins over the one",
] as const;

/** The methods that the notifications use. Listeners are registered for exactly these. */
export const NOTIFICATION_METHODS = [
  "item/agentMessage/delta",
  "item/commandExecution/outputDelta",
  "thread/tokenUsage/updated",
] as const;

/**
 * Part of a busy turn, 200 to 300 bytes per message: mostly text deltas, with command output between them and
 * sometimes the usage. No two messages are equal, so that no cache sees the same bytes twice in a row.
 */
export function notifications(count: number): AppServerMessage[] {
  return Array.from({ length: count }, (_, index) => notification(index));
}

function notification(index: number): AppServerMessage {
  const [delta, output, usage] = NOTIFICATION_METHODS;
  const ids = {
    threadId: THREAD,
    turnId: TURN,
    itemId: `msg_68f1c2a9b7d48190a3e5f60718293a4b_${index >> 6}`,
  };
  const piece = PIECES[index % PIECES.length] ?? "";
  if (index % 100 === 99) {
    const last = {
      totalTokens: 20_000 + index,
      inputTokens: 18_000,
      cachedInputTokens: 16_384,
      outputTokens: index,
    };
    return {
      method: usage,
      params: { threadId: THREAD, turnId: TURN, tokenUsage: { last, modelContextWindow: 272_000 } },
    };
  }
  if (index % 10 === 9)
    return { method: output, params: { ...ids, delta: ` ✓ test/case-${index}.ts (3 tests)\n` } };
  return { method: delta, params: { ...ids, delta: `${piece} ${index}` } };
}

/** A message of about `bytes` bytes: a finished command with all its output, such as a build log. */
export function longMessage(bytes: number): AppServerMessage {
  const line = '  at Object.<anonymous> (src/config/load.test.ts:42:17) "expected true to be false"\n';
  // The quotes and the line end are escaped on the wire, so that the reader can't copy the string through.
  const encoded = JSON.stringify(line).length - 2;
  const aggregatedOutput = line.repeat(Math.ceil(bytes / encoded));
  const item = { type: "commandExecution", id: "call_1", status: "completed", exitCode: 0, aggregatedOutput };
  return { method: "item/completed", params: { threadId: THREAD, turnId: TURN, item } };
}
