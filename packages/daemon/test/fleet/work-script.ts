import {
  callTool,
  gate,
  type Gate,
  pause,
  run,
  say,
  type ScriptFunction,
  type ScriptRequest,
  waitFor,
} from "@codexkit/scripted-model";

/**
 * The first word of a message, which says what its turn does. The second word is the ID. The compaction of a thread waits at the
 * gate of its message `compact <id>`, if the test has created that gate.
 */
export type WorkKind =
  | "say"
  | "stream"
  | "long"
  | "run"
  | "steps"
  | "ask"
  | "hold"
  | "slow"
  | "agent"
  | "tell"
  | "compact";

const STEPS = 3;
const STREAMED = 12;
const STREAM_PAUSE_MS = 5;
/** The pauses of a long turn take more than a second together. */
const LONG_PAUSE_MS = 100;
/** How Codex's request for a summary begins. */
export const COMPACTION = "You are performing a CONTEXT CHECKPOINT COMPACTION";
const AGENTS = { namespace: "multi_agent_v1" } as const;
/** How long a slow command takes, in seconds. */
const SLOW_SECONDS = 1;

/** The model's script for all sessions. Each command appends a line to a file, which names the app-server that ran it. */
export class WorkScript {
  readonly #gates = new Map<string, Gate>();
  readonly #acts: string;

  /** @param acts The file to which commands append lines. */
  constructor(acts: string) {
    this.#acts = acts;
  }

  /** The gate at which the turn of the message `hold <id>` waits, or the compaction after the message `compact <id>`. */
  gate(id: string): Gate {
    const made = this.#gates.get(id) ?? gate();
    this.#gates.set(id, made);
    return made;
  }

  openAll(): void {
    for (const held of this.#gates.values()) held.open();
  }

  readonly play: ScriptFunction = (request) => {
    if (request.lastUserText.startsWith(COMPACTION)) return this.#summarize(request);
    const [kind = "", id = ""] = request.lastUserText.split(" ");
    switch (kind as WorkKind) {
      case "stream":
        return stream(id, STREAM_PAUSE_MS);
      case "long":
        return stream(id, LONG_PAUSE_MS);
      case "run":
      case "ask":
      case "slow":
      case "steps":
        return this.#act(request, kind as WorkKind, id);
      case "agent":
        return delegate(request, id);
      case "tell":
        return messageAgent(request, id);
      case "hold":
        return say([`half `, waitFor(this.gate(id)), `held ${id}`]);
      default:
        return say(`said ${id}`);
    }
  };

  #summarize({ input }: ScriptRequest): ReturnType<ScriptFunction> {
    const [, id = ""] = /"compact (?<id>[^"]+)"/.exec(JSON.stringify(input)) ?? [];
    const held = this.#gates.get(id);
    return say([...(held ? [waitFor(held)] : []), "A summary."]);
  }

  #act(request: ScriptRequest, kind: WorkKind, id: string): ReturnType<ScriptFunction> {
    const steps = kind === "steps" ? STEPS : 1;
    for (let step = 0; step < steps; step += 1) {
      const callId = `${id}-${step}`;
      if (request.output(callId)) continue;
      // The end of the shell's status contains when the app-server has started it.
      const line = `${request.threadId} ${request.turnId} $PPID ${callId} \${stat##*) }`;
      const wait = kind === "slow" ? `; sleep ${SLOW_SECONDS}` : "";
      // Lines of concurrent commands don't mix, because the shell opens the file with O_APPEND.
      const command = `read -r stat < /proc/$$/stat; echo "${line}" >> '${this.#acts}'; echo ran ${callId}${wait}`;
      return run(command, { callId, ...(kind === "ask" && { escalate: "It writes." }) });
    }
    return say(`did ${id}`);
  }
}

function stream(id: string, pauseMs: number): ReturnType<ScriptFunction> {
  const parts = Array.from({ length: STREAMED }, (_, index) => [`${index} `, pause(pauseMs)]);
  return say(parts.flat().concat(`streamed ${id}`));
}

/** Starts an agent that runs a command, and waits for the agent. */
function delegate(request: ScriptRequest, id: string): ReturnType<ScriptFunction> {
  const spawned = request.output(`${id}-spawn`);
  if (!spawned)
    return callTool("spawn_agent", { message: `run child-${id}` }, { ...AGENTS, callId: `${id}-spawn` });
  if (request.output(`${id}-wait`)) return say(`delegated ${id}`);
  return callTool("wait_agent", { targets: [agentIdOf(spawned)] }, { ...AGENTS, callId: `${id}-wait` });
}

/** Sends a message to the agent that the message `agent <id>` has started, and waits for its reply. */
function messageAgent(request: ScriptRequest, id: string): ReturnType<ScriptFunction> {
  const target = agentIdOf(request.output(`${id}-spawn`));
  if (!request.output(`${id}-resume`))
    return callTool("resume_agent", { id: target }, { ...AGENTS, callId: `${id}-resume` });
  if (!request.output(`${id}-send`)) {
    const message = `run again-${id}`;
    return callTool("send_input", { target, message }, { ...AGENTS, callId: `${id}-send` });
  }
  if (request.output(`${id}-answer`)) return say(`told ${id}`);
  return callTool("wait_agent", { targets: [target] }, { ...AGENTS, callId: `${id}-answer` });
}

function agentIdOf(spawned: { readonly text: string } | undefined): string {
  return /"agent_id":"(?<id>[^"]+)"/.exec(spawned?.text ?? "")?.[1] ?? "";
}
