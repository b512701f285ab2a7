import { describe, expect, test } from "vitest";
import { encodeEvent } from "../journal/event-row.ts";
import { SecretMask, setupSecrets } from "./secret-mask.ts";

const SETUP = {
  mcpServers: {
    local: {
      command: "true",
      env: { VALUE: "value-of-env", DB_PW: "/path/like", MODE: "production", ROOT: "/work" },
    },
    remote: {
      url: "http://someone:pass%20word1@127.0.0.1:9/p?key=value%2Fof-query&k=v",
      headers: { authorization: "Bearer value-of-header", accept: "application/json" },
    },
  },
  environment: { url: "ws://127.0.0.1:9", token: 'value "of" token' },
};

describe("the secrets of a setup", () => {
  test("are values of variables, headers and URLs, without ordinary words and paths", () => {
    expect(new Set(setupSecrets(SETUP))).toEqual(
      new Set([
        "?key=value%2Fof-query&k=v",
        "Bearer value-of-header",
        "value%2Fof-query",
        'value "of" token',
        "value-of-header",
        "value/of-query",
        "pass%20word1",
        "value-of-env",
        "pass word1",
        "/path/like",
      ]),
    );
    expect(SecretMask.of({ mcpServers: { local: { command: "true" } } })).toBeUndefined();
  });

  test("are replaced in events by texts of the same length", () => {
    const mask = SecretMask.of(SETUP);
    const text = 'for url (http://127.0.0.1:9/p?key=value%2Fof-query&k=v): value "of" token';
    const { event, data } = encodeEvent({ type: "warning", kind: "server", message: text } as never, mask);
    const { message } = JSON.parse(data) as { message: string };
    expect(message).toBe(`for url (http://127.0.0.1:9/p${"*".repeat(25)}): ${"*".repeat(16)}`);
    expect(message).toHaveLength(text.length);
    expect(event).toMatchObject({ message });
    const digits = SecretMask.of({ mcpServers: { local: { command: "true", env: { PIN: "12345678" } } } });
    expect(digits?.json('{"at":123456789,"text":"123456789"}')).toBe('{"at":123456789,"text":"********9"}');
  });
});
