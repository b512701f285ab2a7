import { request } from "node:http";

/** A parsed server-sent event. */
export interface SentEvent {
  readonly name: string;
  readonly data: Record<string, unknown> & { readonly type: string };
}

/** Sends a request body to the endpoint as Codex does. */
export async function post(url: string, body: unknown = {}, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...init,
  });
}

/** Reads a whole response as events. */
export async function events(response: Response): Promise<SentEvent[]> {
  return parse(await response.text());
}

export function parse(text: string): SentEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const [, name = "", data = "{}"] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      return { name, data: JSON.parse(data) };
    });
}

/** Returns a response's output items. */
export function items(sent: readonly SentEvent[]): Record<string, unknown>[] {
  return sent.flatMap(({ name, data }) =>
    name === "response.output_item.done" ? [data["item"] as Record<string, unknown>] : [],
  );
}

/** Reads a response until the connection breaks, and returns whether it did. */
export async function untilCut(url: string): Promise<{ text: string; cut: boolean }> {
  return new Promise((resolve, reject) => {
    let text = "";
    const sent = request(`${url}/responses`, { method: "POST" }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("error", () => resolve({ text, cut: true }));
      response.on("end", () => resolve({ text, cut: false }));
    });
    sent.on("error", reject);
    sent.end("{}");
  });
}

/** The smallest request to a model that writes code. */
export const codeModeBody = {
  model: "gpt-6.1-sol",
  input: [
    {
      type: "additional_tools",
      role: "developer",
      tools: [
        {
          type: "namespace",
          name: "functions",
          tools: [
            {
              type: "custom",
              name: "exec",
              description: "Run code\n\n### `exec_command`\nRuns.\n\n### `apply_patch`\nPatches.",
            },
            { type: "function", name: "request_user_input" },
          ],
        },
        { type: "namespace", name: "collaboration", tools: [{ type: "function", name: "spawn_agent" }] },
      ],
    },
  ],
};

/** The smallest request to a model that calls tools. */
export const classicBody = {
  model: "gpt-5.5",
  input: [],
  tools: [
    { type: "function", name: "exec_command" },
    { type: "custom", name: "apply_patch" },
    { type: "namespace", name: "lab", tools: [{ type: "function", name: "mix" }] },
    { type: "web_search" },
  ],
};
