import type { AgentHandle, AgentProvider, AgentSpec } from "../src/index.ts";
import type { ConformanceOptions } from "../src/conformance/index.ts";
import { type ReferenceWorld, referenceWorld } from "./reference-handle.ts";
import { ReferenceProvider } from "./reference-provider.ts";

/** Creates providers that share their sessions. A mutant changes each of them. */
export interface ReferenceFixture {
  readonly world: ReferenceWorld;
  readonly make: () => AgentProvider;
  readonly options: ConformanceOptions;
}

/** The reference provider or a mutant of it, with the scenarios for the suite. */
export function referenceFixture(mutate: (provider: ReferenceProvider) => AgentProvider): ReferenceFixture {
  const world = referenceWorld();
  const inner = new Map<AgentProvider, ReferenceProvider>();
  const makeIn = (where: ReferenceWorld): AgentProvider => {
    const provider = new ReferenceProvider(where);
    const mutant = mutate(provider);
    inner.set(mutant, provider);
    return mutant;
  };
  const spec = (prompt: string): AgentSpec => ({ prompt, cwd: process.cwd() });
  const crash = (provider: AgentProvider, _handle: AgentHandle): void => inner.get(provider)?.crash();
  return {
    world,
    make: () => makeIn(world),
    options: {
      scenarios: {
        says: (words) => spec(`say ${words}`),
        works: () => spec("work"),
        usesTool: () => spec("tool"),
        callsModelTwice: () => spec("twice"),
        echoes: () => spec("echo"),
        remembers: { store: (words) => spec(`remember ${words}`), recall: () => spec("recall") },
        usesServer: () => ({ ...spec("server"), mcpStdioServers: [{ name: "tests", command: "tests" }] }),
        asks: () => spec("ask"),
        startsAgent: () => spec("agent"),
        saysVariable: (name) => spec(`variable ${name}`),
        leavesTrace: { works: () => spec("trace"), count: () => world.traces },
        opensSlowly: () => spec("open slowly"),
        crash,
        otherMachine: () => makeIn({ ...world, sessions: new Map(), working: new Set() }),
        leaks: () => [...world.working].map((id) => `session ${id}`),
      },
      samples: { model: "any", providerConfig: {} },
      limits: { deadlineMs: 5, openMs: 5, slowReaderMs: 1, idleMs: 10 },
    },
  };
}
