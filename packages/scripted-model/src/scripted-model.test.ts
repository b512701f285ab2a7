import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

import { afterEach, describe, expect, it } from "vitest";

import { events, items, parse, post, untilCut } from "../test/post.ts";
import type { Script, ScriptedModelOptions } from "./index.ts";
import { cut, fail, gate, headers, run, say, ScriptedModel, think, usage, waitFor } from "./index.ts";

const started: ScriptedModel[] = [];

async function start(script: Script, options?: ScriptedModelOptions): Promise<ScriptedModel> {
  const model = await ScriptedModel.start(script, options);
  started.push(model);
  return model;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map(async (model) => model.close()));
});

describe("a reply", () => {
  it("streams a message between its start and end events", async () => {
    const model = await start([say("héllo 👋", { chunkSize: 3, phase: "final_answer" })]);
    const response = await post(model.url);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const sent = await events(response);
    expect(sent.map(({ name }) => name)).toEqual([
      "response.created",
      "response.output_item.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(sent.every(({ name, data }) => name === data.type)).toBe(true);
    expect(sent.flatMap(({ data }) => data["delta"] ?? [])).toEqual(["hél", "lo ", "👋"]);
    expect(sent[2]?.data).toMatchObject({ item_id: "msg_1", output_index: 0, content_index: 0 });
    expect(items(sent)).toEqual([
      {
        type: "message",
        role: "assistant",
        id: "msg_1",
        phase: "final_answer",
        content: [{ type: "output_text", text: "héllo 👋" }],
      },
    ]);
    expect(sent.at(-1)?.data["response"]).toMatchObject({ id: "resp_1", usage: { total_tokens: 15 } });
  });

  it("streams reasoning, counts items and reports the given usage", async () => {
    const model = await start([
      [think("plan", { raw: "deep" }), "done", usage({ input: 7, cached: 3, output: 2, reasoning: 1 })].map(
        (part) => (typeof part === "string" ? say(part) : part),
      ),
    ]);
    const sent = await events(await post(model.url));
    expect(sent.map(({ name }) => name)).toContain("response.reasoning_summary_part.added");
    expect(items(sent)[0]).toMatchObject({
      id: "rs_1",
      summary: [{ text: "plan" }],
      content: [{ text: "deep" }],
    });
    expect(sent.find(({ name }) => name === "response.output_text.delta")?.data).toMatchObject({
      output_index: 1,
    });
    expect(sent.at(-1)?.data["response"]).toMatchObject({
      usage: {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 3 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 9,
      },
    });
  });

  it("sends thousands of deltas complete and in order", async () => {
    const words = Array.from({ length: 5_000 }, (_, at) => `${at} `);
    const model = await start([say(words)]);
    const sent = await events(await post(model.url));
    expect(sent.flatMap(({ data }) => data["delta"] ?? [])).toEqual(words);
  });

  it("waits for a slow reader", async () => {
    const piece = "x".repeat(100_000);
    const model = await start([say(Array<string>(200).fill(piece))]);
    const response = await post(model.url);
    const request = await model.nextRequest();
    // There is no reader yet. 20 MB don't fit into the socket buffers, so the reply can't have ended.
    expect(await Promise.race([request.ended, Promise.resolve("playing")])).toBe("playing");
    expect((await response.text()).length).toBeGreaterThan(40_000_000);
    expect(await request.ended).toBe("completed");
  });

  it("adds headers to the response", async () => {
    const model = await start([[headers({ "x-codex-primary-used-percent": "12" }), say("hi")]]);
    const response = await post(model.url);
    expect(response.headers.get("x-codex-primary-used-percent")).toBe("12");
    expect(items(await events(response))).toHaveLength(1);
  });

  it("numbers ids across requests and accepts custom ones", async () => {
    const model = await start([[run("a"), run("b", { callId: "mine" })], run("c"), say("x", { id: "m" })], {
      idPrefix: "p",
    });
    expect(items(await events(await post(model.url))).map((sent) => sent["call_id"])).toEqual([
      "call_p1",
      "mine",
    ]);
    expect(items(await events(await post(model.url))).map((sent) => sent["call_id"])).toEqual(["call_p2"]);
    expect(items(await events(await post(model.url))).map((sent) => sent["id"])).toEqual(["m"]);
  });
});

it("refuses a WebSocket with the status after which Codex uses HTTP", async () => {
  const model = await start([]);
  const request = get(model.url, { headers: { connection: "upgrade", upgrade: "websocket" } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  expect(response.resume().statusCode).toBe(426);
});

describe("scripted failures", () => {
  it("responds with an HTTP failure and its retry-after", async () => {
    const model = await start([
      fail.http(429, { retryAfter: 3 }),
      fail.http(401),
      fail.http(500, { body: "oops" }),
    ]);
    const limited = await post(model.url);
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "3"]);
    expect(await limited.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
    expect(await (await post(model.url)).json()).toMatchObject({ error: { code: "invalid_api_key" } });
    const broken = await post(model.url);
    expect([broken.status, await broken.json()]).toEqual([500, "oops"]);
    expect(model.problems).toEqual([]);
  });

  it("ends a stream with response.failed or response.incomplete", async () => {
    const model = await start([[say("so far"), fail.response("insufficient_quota")], fail.incomplete()]);
    const failed = await events(await post(model.url));
    expect(failed.at(-1)?.data).toMatchObject({
      type: "response.failed",
      response: { id: "resp_1", error: { code: "insufficient_quota" } },
    });
    const incomplete = await events(await post(model.url));
    expect(incomplete.at(-1)?.data).toMatchObject({
      response: { incomplete_details: { reason: "max_output_tokens" } },
    });
    expect(await Promise.all(model.requests.map(async ({ ended }) => ended))).toEqual(["failed", "failed"]);
  });

  it("cuts in the middle of a message after sending earlier output", async () => {
    const model = await start([say(["half ", "a mess", cut()])]);
    const answer = await untilCut(model.url);
    expect(answer.cut).toBe(true);
    const sent = parse(answer.text);
    expect(sent.at(-1)?.data).toMatchObject({ type: "response.output_text.delta", delta: "a mess" });
    expect(await model.requests[0]?.ended).toBe("cut");
  });

  it("destroys the connection without a response if the cut comes first", async () => {
    const model = await start([cut()]);
    await expect(untilCut(model.url)).rejects.toMatchObject({ code: "ECONNRESET" });
  });
});

describe("waiting", () => {
  it("sends earlier output before a gate, and the rest once it opens", async () => {
    const held = gate();
    const model = await start([say(["before ", waitFor(held), "after"])]);
    const { body } = await post(model.url);
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("before ")) text += (await reader?.read())?.value ?? "";
    expect(text).not.toContain("after");
    held.open();
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read())
      text += read.value;
    expect(text).toContain("response.completed");
  });

  it("waits for promises and signals", async () => {
    const [promise, controller] = [Promise.withResolvers<string>(), new AbortController()];
    const model = await start([[waitFor(promise.promise), waitFor(controller.signal), say("now")]]);
    const response = post(model.url);
    await model.nextRequest();
    promise.resolve("go");
    controller.abort();
    expect(items(await events(await response))).toHaveLength(1);
  });

  it("can delay an HTTP failure", async () => {
    const held = gate();
    const model = await start([[waitFor(held), fail.http(503)]]);
    const response = post(model.url);
    await model.nextRequest();
    held.open();
    expect((await response).status).toBe(503);
  });

  it("detects that the client has disconnected", async () => {
    const model = await start([[say("hi"), waitFor(gate())]]);
    const leave = new AbortController();
    await post(model.url, {}, { signal: leave.signal });
    leave.abort();
    expect(await (await model.nextRequest()).ended).toBe("abandoned");
    expect(model.problems).toEqual([]);
  });

  it("ends open streams and waits when it is closed", async () => {
    const model = await start([[say("hi"), waitFor(gate())]]);
    const response = await post(model.url);
    const request = await model.nextRequest();
    const waiting = model.nextRequest();
    const reading = response.text();
    const [closed, waited, read] = await Promise.allSettled([model.close(), waiting, reading]);
    expect([closed.status, waited.status, read.status]).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(await request.ended).toBe("closed");
    await expect(model.nextRequest()).rejects.toMatchObject({ code: "closed" });
    expect(() => model.url).toThrow("closed");
    await model.close();
  });
});

describe("scripts", () => {
  it("reports that a list is exhausted", async () => {
    const model = await start(["one"]);
    await post(model.url);
    const response = await post(model.url, {
      model: "m",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hey" }] }],
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("script_exhausted");
    expect(error.message).toContain(
      'exhausted: it has no reply for request 2 (model m, last user text "hey")',
    );
    expect(model.problems).toMatchObject([{ code: "script_exhausted" }]);
  });

  it("plays the fallback if the script has no reply", async () => {
    const model = await start(() => undefined, { fallback: "fallback" });
    expect(JSON.stringify(items(await events(await post(model.url))))).toContain("fallback");
  });

  it("plays another script from the next request on", async () => {
    const model = await start(["old", "old"]);
    await post(model.url);
    model.play(["new"]);
    expect(JSON.stringify(items(await events(await post(model.url))))).toContain("new");
  });

  it("reports a throwing function and keeps running", async () => {
    const model = await start(({ index }) => {
      if (index === 0) throw new Error("my mistake");
      if (index === 1) return Promise.reject(new Error("my late mistake"));
      return "fine";
    });
    expect(await (await post(model.url)).json()).toMatchObject({ error: { code: "script_failed" } });
    expect(await (await post(model.url)).text()).toContain("my late mistake");
    expect((await post(model.url)).status).toBe(200);
    expect(model.problems.map(({ message }) => message)).toEqual([
      "The script failed: my mistake",
      "The script failed: my late mistake",
    ]);
    expect(model.requests).toHaveLength(3);
  });

  it.each([
    { why: "an HTTP failure after output", reply: [say("hi"), fail.http(500)] },
    { why: "output after the end", reply: [cut(), say("hi")] },
    { why: "output after a message that was cut", reply: [say(["h", cut()]), say("hi")] },
    { why: "headers after output", reply: [say("hi"), headers({ a: "b" })] },
  ])("refuses $why before anything is sent", async ({ reply }) => {
    const model = await start([reply]);
    const response = await post(model.url);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "invalid_reply" } });
  });

  it("cuts the stream when a script fails in the middle, and reports why", async () => {
    const held = gate();
    const model = await start([say(["begun", waitFor(held)])]);
    const answer = untilCut(model.url);
    await model.nextRequest();
    held.fail(new Error("never mind"));
    expect((await answer).text).toContain("begun");
    expect(model.problems).toMatchObject([{ code: "script_failed" }]);
  });

  it("serves concurrent requests, each with its own reply", async () => {
    const gates = Array.from({ length: 20 }, () => gate());
    const model = await start(({ body }) => {
      const at = Number(body["at"]);
      return [waitFor(gates[at] ?? gate()), say(`answer ${at}`)];
    });
    const answers = gates.map(async (_, at) => (await post(model.url, { at })).text());
    await model.waitForRequests(gates.length);
    for (const held of gates.toReversed()) held.open();
    const texts = await Promise.all(answers);
    expect(texts.every((text, at) => text.includes(`"answer ${at}"`))).toBe(true);
  });
});

describe("invalid requests", () => {
  it("responds 404 to everything but POST /v1/responses", async () => {
    const model = await start(["hi"]);
    expect((await fetch(`${model.url}/models`)).status).toBe(404);
    expect((await fetch(`${model.url}/responses`)).status).toBe(404);
    expect((await fetch(`${model.url}/other`, { method: "POST", body: "{}" })).status).toBe(404);
    expect(model.requestCount).toBe(0);
  });

  it("fails to start on a used port", async () => {
    const model = await start([]);
    const port = Number(new URL(model.url).port);
    await expect(ScriptedModel.start([], { port })).rejects.toMatchObject({ code: "listen_failed" });
  });
});
