import { describe, expect, test } from "vitest";
import { encodeEvent } from "../journal/event-row.ts";
import { hasSecrets, SecretMask, setupSecrets } from "./secret-mask.ts";

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

  test("are the arguments of MCP servers that look like secrets", () => {
    const args = [
      "server.mjs",
      "postgresql://app:password-of-url@db.example/x",
      "--header",
      "X-Api-Key: value-of-header",
      "API_TOKEN=value-of-variable",
      JSON.stringify({ token: "value-of-json" }),
      "https://h.example/mcp?k=value-of-query",
      "--endpoint=https://h.example/mcp?k=value-of-option",
      "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
      "--verbose",
      "https://h.example/path",
      "note: is this a URL?",
    ];
    const secrets = setupSecrets({ mcpServers: { local: { command: "node", args } } });
    expect(new Set(secrets)).toEqual(
      new Set([
        "password-of-url",
        "value-of-header",
        "value-of-variable",
        "value-of-json",
        "?k=value-of-query",
        "value-of-query",
        "?k=value-of-option",
        "value-of-option",
        "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
      ]),
    );
    for (const arg of args.slice(0, -1)) {
      const isSecret = secrets.some((secret) => arg.includes(secret) || arg.includes(JSON.stringify(secret)));
      expect(hasSecrets({ command: "node", args: [arg] })).toBe(isSecret);
    }
  });

  test("are passwords whose option only the program explains", () => {
    const local = {
      command: "/usr/bin/sshpass",
      args: ["-p", "hunter2hunter", "ssh", "-p", "22222222", "host"],
    };
    expect(setupSecrets({ mcpServers: { local } })).toEqual(["hunter2hunter"]);
    expect(hasSecrets(local)).toBe(true);
    expect(hasSecrets({ command: "ssh", args: local.args.slice(3) })).toBe(false);
  });

  test("are also the parts of a variable's value that look like secrets", () => {
    const env = { DATABASE_URL: "postgres://app:password-of-url@db/x", CONFIG: '{"token":"value-of-json"}' };
    expect(new Set(setupSecrets({ mcpServers: { local: { command: "true", env } } }))).toEqual(
      new Set([...Object.values(env), "password-of-url", "value-of-json"]),
    );
  });

  test("are masked where they are escaped, also in JSON inside JSON", () => {
    const key = '-----BEGIN KEY-----\nbase64/of+the+first+line\r\nand\\a"quote\n-----END KEY-----';
    const mask = SecretMask.of({ mcpServers: { local: { command: "true", env: { KEY: key } } } });
    let form = key;
    for (let level = 0; level <= 3; level += 1) {
      const text = `before ${form} after`;
      const masked = JSON.parse(mask?.json(JSON.stringify({ text })) ?? "") as { text: string };
      expect(masked.text).toBe(`before ${"*".repeat(form.length)} after`);
      form = JSON.stringify(form).slice(1, -1);
    }
  });

  test("are also the lines of a value, which occur alone or with other line ends", () => {
    const env = { KEY: "-----BEGIN KEY-----\nfirst+line\nsecond/line\nword\n-----END KEY-----\n" };
    const mask = SecretMask.of({ mcpServers: { local: { command: "true", env } } });
    const text = "-----BEGIN KEY-----\r\nfirst+line\r\n only the second/line of words";
    expect(mask?.json(JSON.stringify({ text }))).toBe(
      JSON.stringify({
        text: `-----BEGIN KEY-----\r\n${"*".repeat(10)}\r\n only the ${"*".repeat(11)} of words`,
      }),
    );
  });
});
