import { createCodex } from "@codexkit/ai-sdk";

import { EXIT_TIMEOUT_MS } from "../turns/exit-timeout.ts";
import { callOptions, type Contender, MODEL, textOf, textStream } from "./contender.ts";

/** The typical use: an ephemeral thread per call, which is the default. */
export const ours: Contender = {
  async open({ codex: codexPath, workspace: cwd, env }) {
    const codex = createCodex({
      launch: {
        codexPath,
        cwd,
        env,
        inheritEnv: false,
        processLimits: { exitTimeoutMs: EXIT_TIMEOUT_MS, terminateTimeoutMs: 0 },
      },
      cwd,
      sandbox: "read-only",
      approvalPolicy: "never",
    });
    const model = codex(MODEL);
    return {
      generate: async (prompt) => textOf(await model.doGenerate(callOptions(prompt))),
      stream: (prompt) => textStream(model.doStream(callOptions(prompt))),
      [Symbol.asyncDispose]: () => codex.close(),
    };
  },
};
