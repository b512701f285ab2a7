import type { RpcError } from "@codexkit/rpc";
import { describe, expect, it } from "vitest";
import { initializePeer } from "../start-app-server.ts";
import type { FakeBehaviour } from "./behaviour.ts";
import { type FakeAppServer, startFakeAppServer } from "./start-fake.ts";

/** Creates an initialized fake and collects the anomalies that its peer reports. */
async function joined(behaviour: FakeBehaviour): Promise<FakeAppServer & { anomalies: RpcError[] }> {
  const fake = startFakeAppServer(behaviour);
  const anomalies: RpcError[] = [];
  fake.peer.onAnomaly((error) => anomalies.push(error));
  await initializePeer(fake.peer);
  return { ...fake, anomalies };
}

describe("the fake app-server", () => {
  it("gives plausible responses without a rule", async () => {
    await using fake = await joined({});
    const { thread } = await fake.peer.request("thread/start", {});
    expect(thread.id).toBe("thread-1");
    const { turn } = await fake.peer.request("turn/start", { threadId: thread.id, input: [] });
    expect(turn).toMatchObject({ id: "turn-1", status: "inProgress" });
  });

  it("is killed after a number of lines, and every pending call reports it", async () => {
    await using fake = await joined({ dieAfterLines: 2 });
    const calls = [1, 2, 3].map(() => fake.peer.request("thread/loaded/list", {}));
    for (const call of calls) await expect(call).rejects.toThrow(/SIGKILL/);
  });

  it("exits with its stderr in the error", async () => {
    await using fake = await joined({
      on: {
        "thread/start": [
          { do: "stderr", text: "no space left on device" },
          { do: "exit", code: 7 },
        ],
      },
    });
    await expect(fake.peer.request("thread/start", {})).rejects.toThrow(/code 7[^]*no space left on device/);
  });

  it("prints garbage, which its peer reports without failing", async () => {
    await using fake = await joined({
      on: {
        "thread/start": [
          { do: "print", text: "not json\n[1,2]\n{}\n" },
          { do: "reply", result: "after" },
        ],
      },
    });
    await expect(fake.peer.request("thread/start", {})).resolves.toBe("after");
    expect(fake.anomalies.map(({ code }) => code)).toEqual(["malformed", "malformed", "malformed"]);
  });

  it("sends a line of 32 MB in one piece", async () => {
    const bytes = 32 * 1024 * 1024;
    await using fake = await joined({
      on: {
        "thread/start": [
          { do: "hugeLine", bytes },
          { do: "reply", result: 1 },
        ],
      },
    });
    const heard = new Promise<number>((resolve) => {
      fake.peer.onRest((params) => resolve((params as { filler: string }).filler.length));
    });
    await fake.peer.request("thread/start", {});
    await expect(heard).resolves.toBe(bytes);
  });

  it("floods its peer with notifications, all received in order before the response", async () => {
    const notify = { do: "notify", method: "warning", params: { message: "flood" }, times: 20_000 } as const;
    await using fake = await joined({ on: { "thread/start": [notify, { do: "reply", result: 1 }] } });
    let heard = 0;
    fake.peer.on("warning", () => {
      heard += 1;
    });
    await fake.peer.request("thread/start", {});
    expect(heard).toBe(20_000);
  });

  it("never responds, until its peer times out", async () => {
    await using fake = await joined({ on: { "thread/start": [{ do: "nothing" }] } });
    const signal = AbortSignal.timeout(1);
    await expect(fake.peer.request("thread/start", {}, { signal })).rejects.toMatchObject({
      code: "aborted",
    });
  });

  it("responds twice, and with a string id for a number", async () => {
    await using fake = await joined({
      on: {
        "thread/start": [
          { do: "reply", result: "first" },
          { do: "reply", result: "second" },
        ],
        "thread/list": [
          { do: "replyWithStringId", result: "wrong" },
          { do: "reply", result: "right" },
        ],
      },
    });
    await expect(fake.peer.request("thread/start", {})).resolves.toBe("first");
    await expect(fake.peer.request("thread/list", {})).resolves.toBe("right");
    expect(fake.anomalies.map(({ code }) => code)).toEqual(["unmatched_response", "unmatched_response"]);
  });

  it("sends a request with a string id and echoes the response", async () => {
    const asked = {
      do: "request",
      id: "ask-1",
      method: "currentTime/read",
      params: { threadId: "t" },
    } as const;
    await using fake = await joined({ on: { "thread/start": [asked, { do: "reply", result: 1 }] } });
    fake.peer.handle("currentTime/read", () => ({ currentTimeAt: 5 }));
    const echoed = new Promise((resolve) => {
      fake.peer.onRest(resolve);
    });
    await fake.peer.request("thread/start", {});
    await expect(echoed).resolves.toEqual({ id: "ask-1", result: { currentTimeAt: 5 } });
  });

  it("closes its stdin early without breaking its peer", async () => {
    await using fake = await joined({
      on: {
        "thread/start": [{ do: "reply", result: 1 }, { do: "closeStdin" }, { do: "print", text: "{}\n" }],
      },
    });
    const closedStdin = new Promise<void>((resolve) => {
      fake.peer.onAnomaly(() => resolve());
    });
    await fake.peer.request("thread/start", {});
    await closedStdin;
    await expect(fake.peer.request("thread/list", {})).rejects.toMatchObject({ code: "closed" });
  });

  it("waits for a notification before it continues", async () => {
    await using fake = await joined({
      on: { "thread/start": [{ do: "waitForGo" }, { do: "reply", result: "went on" }] },
    });
    const answer = fake.peer.request("thread/start", {});
    await fake.peer.request("thread/list", {});
    await fake.go();
    await expect(answer).resolves.toBe("went on");
  });
});
