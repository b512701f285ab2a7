import { createCodexAppServer } from "ai-sdk-provider-codex-app-server";

import { callOptions, type Contender, MODEL, textOf, textStream } from "./contender.ts";
import { watchChildren } from "./watched-children.ts";

/** `ai-sdk-provider-codex-app-server`, with one thread per call. It does not support ephemeral threads. */
export const codexAppServer: Contender = {
  async open({ codex: codexPath, workspace: cwd, env }) {
    const children = watchChildren();
    const provider = createCodexAppServer({
      defaultSettings: {
        codexPath,
        cwd,
        env: { ...env },
        logger: false,
        approvalMode: "never",
        sandboxMode: "read-only",
        threadMode: "stateless",
      },
    });
    const model = provider(MODEL);
    return {
      generate: async (prompt) => textOf(await model.doGenerate(callOptions(prompt))),
      stream: (prompt) => textStream(model.doStream(callOptions(prompt))),
      async [Symbol.asyncDispose]() {
        // Its type hides this method, and nothing else ends the process.
        (model as unknown as { dispose(): void }).dispose();
        await children[Symbol.asyncDispose]();
      },
    };
  },
};
