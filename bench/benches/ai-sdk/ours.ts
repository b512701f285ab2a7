import { createCodex } from "@codexkit/ai-sdk";

import { LEAVE_MS } from "../turns/leave-ms.ts";
import { callOptions, type Contender, MODEL, textOf, textStream } from "./contender.ts";

/** As a program uses it, with an ephemeral thread a call: its default. */
export const ours: Contender = {
  async open({ codex: codexPath, workspace: cwd, env }) {
    const codex = createCodex({
      launch: {
        codexPath,
        cwd,
        env,
        inheritEnv: false,
        processLimits: { exitTimeoutMs: LEAVE_MS, terminateTimeoutMs: 0 },
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
