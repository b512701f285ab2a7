import { createCodexAppServer } from "ai-sdk-provider-codex-cli";

import { callOptions, type Contender, MODEL, textOf, textStream } from "./contender.ts";
import { watchChildren } from "./watched-children.ts";

/**
 * `ai-sdk-provider-codex-cli` in its app-server mode, with an ephemeral thread per call, which is its
 * default.
 */
export const codexCli: Contender = {
  async open({ codex: codexPath, workspace: cwd, env }) {
    const children = watchChildren();
    const provider = createCodexAppServer({
      defaultSettings: {
        codexPath,
        cwd,
        env: { ...env },
        logger: false,
        approvalPolicy: "never",
        sandboxPolicy: "read-only",
      },
    });
    const model = provider(MODEL);
    return {
      generate: async (prompt) => textOf(await model.doGenerate(callOptions(prompt))),
      stream: (prompt) => textStream(model.doStream(callOptions(prompt))),
      async [Symbol.asyncDispose]() {
        await provider.close();
        await children[Symbol.asyncDispose]();
      },
    };
  },
};
