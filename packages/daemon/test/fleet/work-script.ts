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

/** The first word of a message, which says what its turn does. The second word is the ID. */
export type WorkKind = "say" | "stream" | "run" | "steps" | "ask" | "hold" | "slow" | "agent";

const STEPS = 3;
const STREAMED = 12;
const STREAM_PAUSE_MS = 5;
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

  /** The gate at which the turn of the message `hold <id>` waits. */
  gate(id: string): Gate {
    const made = this.#gates.get(id) ?? gate();
    this.#gates.set(id, made);
    return made;
  }

  openAll(): void {
    for (const held of this.#gates.values()) held.open();
  }

  readonly play: ScriptFunction = (request) => {
    const [kind = "", id = ""] = request.lastUserText.split(" ");
    switch (kind as WorkKind) {
      case "stream":
        return say(
          Array.from({ length: STREAMED }, (_, index) => [`${index} `, pause(STREAM_PAUSE_MS)])
            .flat()
            .concat(`streamed ${id}`),
        );
      case "run":
      case "ask":
      case "slow":
      case "steps":
        return this.#act(request, kind as WorkKind, id);
      case "agent":
        return delegate(request, id);
      case "hold":
        return say([`half `, waitFor(this.gate(id)), `held ${id}`]);
      default:
        return say(`said ${id}`);
    }
  };

  #act(request: ScriptRequest, kind: WorkKind, id: string): ReturnType<ScriptFunction> {
    const steps = kind === "steps" ? STEPS : 1;
    for (let step = 0; step < steps; step += 1) {
      const callId = `${id}-${step}`;
      if (request.output(callId)) continue;
      const line = `${request.threadId} ${request.turnId} $PPID ${callId}`;
      const wait = kind === "slow" ? `; sleep ${SLOW_SECONDS}` : "";
      // Lines of concurrent commands don't mix, because the shell opens the file with O_APPEND.
      const command = `echo "${line}" >> '${this.#acts}'; echo ran ${callId}${wait}`;
      return run(command, { callId, ...(kind === "ask" && { escalate: "It writes." }) });
    }
    return say(`did ${id}`);
  }
}

/** Starts an agent that runs a command, and waits for the agent. */
function delegate(request: ScriptRequest, id: string): ReturnType<ScriptFunction> {
  const namespace = "multi_agent_v1";
  const spawned = request.output(`${id}-spawn`);
  if (!spawned) {
    return callTool("spawn_agent", { message: `run child-${id}` }, { namespace, callId: `${id}-spawn` });
  }
  if (request.output(`${id}-wait`)) return say(`delegated ${id}`);
  const agentId = /"agent_id":"([^"]+)"/.exec(spawned.text)?.[1] ?? "";
  return callTool("wait_agent", { targets: [agentId] }, { namespace, callId: `${id}-wait` });
}
