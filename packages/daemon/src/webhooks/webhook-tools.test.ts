import { callTool, say, type Script } from "@codexkit/scripted-model";
import { describe, expect, test } from "vitest";
import { Receiver, type Received } from "../../test/receiver.ts";
import { startRunner } from "../../test/start-runner.ts";
import { webhookToolCall } from "../api/webhook-tool.ts";
import { WEBHOOK_LIMITS, type WebhookSettings } from "./limits.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const LOCAL: WebhookSettings = { limits: WEBHOOK_LIMITS, allowPrivate: true };
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const tool = (url: string) => ({
  name: "weather",
  description: "Tells the weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  url,
  secret: SECRET,
});

/** Calls the tool and returns its result. */
const caller: Script = (request) => {
  const [output] = request.newOutputs;
  return output === undefined
    ? callTool("weather", { city: "Lund" }, { callId: "call" })
    : say(`result: ${JSON.stringify(output)}`);
};

async function runTool(
  answer: Parameters<typeof Receiver.start>[0],
  webhooks: WebhookSettings = LOCAL,
): Promise<{ result: string; received: readonly Received[] }> {
  await using receiver = await Receiver.start(answer);
  await using stage = await startRunner(caller, { webhooks });
  const session = await stage.create({ tools: [tool(receiver.url)] });
  await session.send("go");
  await session.ended();
  return { result: JSON.stringify(await session.events()), received: receiver.received };
}

describe("a tool by webhook", () => {
  test("gets the call, signed, and its response is the result", async () => {
    const { result, received } = await runTool((_, response) => response.end("sunny"));
    expect(result).toContain("sunny");
    expect(received).toHaveLength(1);
    const [call] = received;
    expect(webhookToolCall.parse(JSON.parse(call?.body ?? ""))).toMatchObject({
      type: "tool.called",
      tool: "weather",
      callId: "call",
      arguments: { city: "Lund" },
    });
    expect(call?.headers["webhook-signature"]).toMatch(/^v1,/);
  });

  test("can return text and images", async () => {
    const content = [
      { type: "text", text: "a map" },
      { type: "image", url: PIXEL },
    ];
    const { result } = await runTool((_, response) => response.end(JSON.stringify({ content })));
    expect(result).toContain("a map");
    expect(result).toContain("data:image/png");
  });

  test("can't name a file of this machine as an image", async () => {
    const content = [{ type: "image", url: "/etc/hostname" }];
    const { result } = await runTool((_, response) => response.end(JSON.stringify({ content })));
    // The body is used as plain text.
    expect(result).toContain("/etc/hostname");
    expect(result).not.toContain("data:");
  });

  test("that fails returns the reason to the model, and the turn continues", async () => {
    const { result, received } = await runTool((_, response) => response.writeHead(500).end("out of order"));
    expect(result).toContain("turn.completed");
    expect(result).toContain("The tool responded with status 500: out of order");
    expect(received).toHaveLength(1);
  });

  test("at a private address is not called", async () => {
    const { result, received } = await runTool(undefined, { ...LOCAL, allowPrivate: false });
    expect(result).toContain("not on the public internet");
    expect(received).toEqual([]);
  });

  test("is still there after a restart", async () => {
    await using receiver = await Receiver.start((_, response) => response.end("rain"));
    await using stage = await startRunner(caller, { webhooks: LOCAL, limits: { sessionIdleMs: 1 } });
    const session = await stage.create({ tools: [tool(receiver.url)] });
    await session.send("go");
    await session.ended();
    const server = stage.runner.status.appServers[0];
    if (server?.pid) process.kill(server.pid, "SIGKILL");
    await session.send("again");
    await receiver.waitFor(2);
  });
});
