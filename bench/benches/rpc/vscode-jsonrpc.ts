import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";

import type { Contender } from "./contender.ts";

/** As shown in its documentation, with its defaults. */
export const vscodeJsonrpc: Contender = {
  framing: "content-length",
  open({ input, output }, heard) {
    const connection = createMessageConnection(
      new StreamMessageReader(input),
      new StreamMessageWriter(output),
    );
    for (const [method, listener] of heard) connection.onNotification(method, listener);
    connection.listen();
    return {
      call: (method, params) => connection.sendRequest(method, params),
      async [Symbol.asyncDispose]() {
        connection.dispose();
      },
    };
  },
};
