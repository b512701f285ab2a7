import { describe, expect, it, onTestFinished } from "vitest";
import { ChildTransport } from "./child-transport.ts";
import { OwnedProcess } from "./owned-process.ts";

function connect(script: string): {
  transport: ChildTransport;
  texts: string[];
  closed: Promise<Error | undefined>;
} {
  const owned = new OwnedProcess({ command: "/bin/sh", args: ["-c", script] });
  onTestFinished(() => owned.stop("SIGKILL"));
  const transport = new ChildTransport(owned);
  const texts: string[] = [];
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  transport.start({ text: (text) => texts.push(text), malformed: () => {}, closed: resolve });
  return { transport, texts, closed: promise };
}

describe("the connection to a child", () => {
  it("carries lines both ways", async () => {
    const { transport, texts } = connect("exec cat");
    await transport.send('{"a":1}');
    await expect.poll(() => texts).toEqual(['{"a":1}']);
  });

  it("reports the child's exit and stderr when it ends", async () => {
    const { texts, closed } = connect("echo '{}'; echo 'no luck' >&2; exit 3");
    expect((await closed)?.message).toBe("/bin/sh exited with code 3; stderr:\nno luck");
    expect(texts).toEqual(["{}"]);
  });

  it("ends without a cause when this side closes it", async () => {
    const { transport, closed } = connect("exec cat");
    await transport.close();
    expect(await closed).toBeUndefined();
  });
});
