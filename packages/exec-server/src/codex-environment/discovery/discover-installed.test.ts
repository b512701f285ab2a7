import { tempFolder } from "@codexkit/testing";
import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { RawClient } from "../../../test/raw-client.ts";
import { type ServerKind, startProgram } from "../../../test/servers.ts";

const long = (length: number): string => "x".repeat(length);

/** Front matter, each in a skill of its own. What Codex takes and what it leaves out is for Codex to say. */
const FRONT_MATTERS: readonly string[] = [
  "name: one\ndescription: First\nmetadata:\n  short-description: short",
  "description: without a name",
  "name: without a description",
  `name: ${long(64)}\ndescription: d`,
  `name: ${long(65)}\ndescription: d`,
  `name: long\ndescription: ${long(5000)}\nmetadata:\n  short-description: ${long(3000)}`,
  "name: '  many   spaces '\ndescription: >\n  folded\n  text\nmetadata:\n  short-description: |\n    lit\n    eral",
  ...["12", "true", "1e3", "0o17", "007", "1_000", "2020-01-01", ".inf", "yes"].map(
    (scalar) => `name: ${scalar}\ndescription: ${scalar}`,
  ),
  ...["", "~", "null", "'null'", "''", "!!str 12", "!foo bar", "[a]", "{a: b}", "&a"].map(
    (scalar) => `name: ${scalar}\ndescription: d`,
  ),
  ...[
    "",
    " ~",
    " null",
    " ''",
    " text",
    " [a]",
    " {short-description: ~, a: [1]}",
    " {short-description: 3}",
  ].map((value) => `name: m\ndescription: d\nmetadata:${value}`),
  ...[
    "has: a colon",
    "a: b # comment",
    "@mention it's",
    "`code` here",
    "it's `code` and #hash",
    "%d things",
    "*bold* text",
    "! wow",
    "- dash",
    "? question",
    ", comma",
    "[x",
    "{a: b}",
    "'unclosed",
    '"a: b" c',
    '"a\\u00e9\\x41\\n\\tb"',
    '"a\\qb"',
    "\u{1f600} caf\u00e9",
    "bell\u0007",
    "first\n  second line",
    "d\n  more: here",
    "\n  nested: a",
    "|\n  a: b: c\nbad: a: b",
    "d\nargument-hint: <duration: e.g. 7d>",
    "d\nallowed-tools: [Read, Write",
    "d\nmetadata:\n  short-description: a: b",
    "d\nx: 1\nx: 2",
    "d\nname: twice",
    "d\n1: x\n[a]: b",
    "d\n1: x",
    "d\nx:\ty",
    "d\n\ttab: d",
    "d\n...\nname: second document",
  ].map((description) => `name: n\ndescription: ${description}`),
  "name: &a anchor\ndescription: *a",
  "x: &a {description: merged}\n<<: *a\nname: merge",
  "{name: flow, description: d}",
  "- name\n- x",
  "name: \u00a0\u3000uni\u200by\ufeffz\ndescription: d",
  "name: nel\u0085x\ndescription: d",
  "name: crlf\r\ndescription: d\r",
  "name:n\ndescription: d",
  '"name": quoted\n? description\n: d',
  "# comment\n\nname: c\ndescription: >-\n  a\n\n  b\n",
  "%YAML 1.1\nname: directive\ndescription: d",
  "\n\n",
  "",
];

/** `agents/openai.yaml`, each beside a skill of its own. */
const METADATA: readonly string[] = [
  "interface:\n  display_name: M\ndependencies:\n  tools:\n    - {type: mcp, value: v, description: d, transport: t, command: c, url: u}\n    - {type: env_var, value: FOO}\npolicy:\n  allow_implicit_invocation: false\n  products: [codex]\n",

  "a: [",
  "",
  "- a\n",
  "policy:\ndependencies:\n",
  "policy: {}\npolicy: {}\n",
  "foo: 1\npolicy: {foo: 2}\n",
  ...["{}", "3", "~", "{allow_implicit_invocation: , products: }"].map((policy) => `policy: ${policy}\n`),
  ...["'no'", "yes", "True", "'true'", "FALSE"].map(
    (allow) => `policy: {allow_implicit_invocation: ${allow}}\n`,
  ),
  ...["[CODEX, chatgpt, ATLAS]", "[Codex]", "[nope]", "~", "codex"].map(
    (list) => `policy: {products: ${list}}\n`,
  ),
  ...[
    "3",
    "{tools: []}",
    "{tools: }",
    "{tools: {a: b}}",
    "{tools: [~, {type: a, value: b}]}",
    "{tools: ~}",
  ].map((dependencies) => `dependencies: ${dependencies}\npolicy: {}\n`),
  "dependencies:\n  tools:\n    - value: x\n    - type: t\n    - type: ' t  t '\n      value: 3\n      description: ''\n",
  `dependencies:\n  tools:\n    - {type: ${long(64)}, value: ${long(1024)}, description: ${long(1024)}, transport: ${long(64)}, command: ${long(1024)}, url: ${long(1024)}}\n`,
  `dependencies:\n  tools:\n    - {type: t, value: v, description: ${long(1025)}, transport: ${long(65)}, command: ${long(1025)}, url: ${long(1025)}}\n    - {type: ${long(65)}, value: v}\n    - {type: t, value: ${long(1025)}}\n`,
  ...[
    ...["80", "0x1F", "+5", "0o17", "0b11", "0", "65535", "65536", "'80'", "80.0", "080", "~", "-1"].map(
      (port) => `{callbackPort: ${port}}`,
    ),
    "{callback_port: 82}",
    "{callbackPort: 1, callback_port: 2}",
    "{}",
    "~",
    "3",
  ].map((oauth) => `dependencies: {tools: [{type: a, value: b, oauth: ${oauth}}]}\n`),
  ...[
    "3",
    "{display_name: 3}",
    "{icon_small: []}",
    "{default_prompt: [a]}",
    "{foo: [], icon_large: ~}",
    "~",
  ].map((face) => `interface: ${face}\npolicy: {}\n`),
  "interface:\n  short_description: a: b\npolicy: {}\n",
];

/** Manifests of plugins that are installed, each in one version. */
const MANIFESTS: readonly string[] = [
  '{"name":"n","displayName":"no","interface":{"displayName":" D  2 "}}',
  '{"name":" ","interface":{"displayName":" "}}',
  '{"interface":{}}',
  '{"name":"  spaces "}',
  '{"name":"n","interface":null}',
  '{"name":"n","mcpServers":"./cfg/m.json","apps":"./apps.json"}',
  '{"name":"n","mcpServers":"m.json","apps":"../x"}',
  '{"name":"n","mcpServers":[1],"apps":"./"}',
  '{"name":"n","mcpServers":{}}',
  '{"name":"n","mcpServers":{"x":{"command":"y"},"w":{}}}',
  '{"name":"n","mcpServers":"./missing.json"}',
  "no json",
  "[]",
  "null",
  '{"name":3}',
  '{"name":null}',
  '{"name":"n","interface":3}',
  '{"name":"n","interface":{"displayName":3}}',
  `{"name":"${long(126)}"}`,
  `{"name":"${long(128)}"}`,
];

/** The versions of one plugin that lie beside each other. */
const VERSIONS: readonly (readonly string[])[] = [
  ["1.2.0", "1.10.0"],
  ["1.0.0", "local"],
  ["abc", "1.0.0"],
  ["1.0.0", "1.0.0-beta"],
  ["1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-beta.x"],
  ["1.0.0+b", "1.0.0+a"],
  ["v2.0.0", "1.0.0"],
  [".tmp", "1.0"],
  ["we ird"],
];

const INSTALLS: readonly string[] = [
  '{"schema_version":1,"remote_plugin_id":"id"}',
  '{"schema_version":1,"remote_plugin_id":"  id "}',
];

const BAD_INSTALLS: readonly string[] = [
  "no json",
  '{"schema_version":2,"remote_plugin_id":"id"}',
  '{"schema_version":1,"remote_plugin_id":" "}',
  `{"schema_version":1,"remote_plugin_id":"${long(1025)}"}`,
];

type Files = Record<string, string>;

const fenced = (yaml: string): string => `---\n${yaml}\n---\nbody\n`;
const numbered = (cases: readonly string[], path: string, text = (one: string) => one): Files =>
  Object.fromEntries(
    cases.map((one, index) => [path.replace("#", String(index).padStart(3, "0")), text(one)]),
  );
const skill = (name: string): string => fenced(`name: ${name}\ndescription: d`);

async function write(folder: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** What each server answers, as text: fields are in the same order too. */
async function answers(
  folder: string,
  requests: readonly unknown[] = [{ cwd: "file:///" }],
  home = "home",
): Promise<Record<ServerKind, string[]>> {
  const ask = async (kind: ServerKind): Promise<string[]> => {
    const env = { CODEX_HOME: join(folder, home), HOME: join(folder, "user"), TMPDIR: folder };
    await using server = await startProgram(kind, [], env);
    using client = await RawClient.ready(server.url);
    const texts: string[] = [];
    for (const request of requests) {
      const { result, error } = await client.call("capabilities/discoverV2", request);
      texts.push(JSON.stringify(result ?? error?.code, null, 1));
    }
    return texts;
  };
  return { ours: await ask("ours"), codex: await ask("codex") };
}

async function expectSame(files: Files, prepare?: (folder: string) => Promise<unknown>): Promise<string> {
  await using temporary = await tempFolder("installed");
  const folder = await realpath(temporary.path);
  await mkdir(join(folder, "home"));
  await write(folder, files);
  await prepare?.(folder);
  const { ours, codex } = await answers(folder);
  expect(ours).toEqual(codex);
  return String(ours[0]);
}

test("reads front matter as Codex does", async () => {
  const found = await expectSame({
    ...numbered(FRONT_MATTERS, "home/skills/s#/SKILL.md", fenced),
    "home/skills/two  words/SKILL.md": fenced("description: d"),
    "home/skills/bom/SKILL.md": `\ufeff${skill("bom")}`,
    "home/skills/open/SKILL.md": "---\nname: open\ndescription: d\n",
    "home/skills/loose/SKILL.md": " --- \nname: loose\ndescription: d\n  ---  \n",
    "home/skills/text/SKILL.md": "# text\n",
  });
  expect(found).toContain('"First"');
});

test("reads agents/openai.yaml as Codex does, and warns of nothing in it", async () => {
  const found = await expectSame({
    ...numbered(METADATA, "home/skills/s#/SKILL.md", () => skill("m")),
    ...numbered(METADATA, "home/skills/s#/agents/openai.yaml"),
  });
  expect(found).toContain('"oauthCallbackPort": 31');
  expect(found).toContain('"warnings": []');
});

test("looks into the same folders as Codex does", async () => {
  const found = await expectSame(
    {
      "home/skills/SKILL.md": skill("root"),
      "home/skills/.system/sys/SKILL.md": skill("sys"),
      "home/skills/1/2/3/4/5/6/SKILL.md": skill("six"),
      "home/skills/1/2/3/4/5/6/7/SKILL.md": skill("seven"),
      "home/skills/lower/skill.md": skill("lower"),
      "user/.agents/skills/ua/SKILL.md": skill("ua"),
      "user/.codex/skills/uc/SKILL.md": skill("uc"),
      "other/linked/SKILL.md": skill("linked"),
      "other/openai.yaml": "policy: {}\n",
      "home/skills/blank/.codex-plugin/plugin.json": '{"name":" "}',
      "home/skills/blank/a/SKILL.md": skill("a"),
      "home/skills/bad/.codex-plugin/plugin.json": "bad",
      "home/skills/bad/.claude-plugin/plugin.json": '{"name":"second"}',
      "home/skills/bad/SKILL.md": skill("b"),
      "home/skills/long/.cursor-plugin/plugin.json": `{"name":"${long(100)}"}`,
      "home/skills/long/SKILL.md": skill(long(28)),
      "home/skills/long/more/SKILL.md": skill(long(29)),
    },
    async (folder) => {
      await symlink(join(folder, "other/linked"), join(folder, "home/skills/link"));
      await symlink(join(folder, "home/skills"), join(folder, "home/skills/loop"));
      await mkdir(join(folder, "home/skills/file"));
      await symlink(join(folder, "other/linked/SKILL.md"), join(folder, "home/skills/file/SKILL.md"));
      await mkdir(join(folder, "home/skills/lower/agents"));
      await mkdir(join(folder, "home/skills/1/2/3/4/5/6/agents"));
      await symlink(
        join(folder, "other/openai.yaml"),
        join(folder, "home/skills/1/2/3/4/5/6/agents/openai.yaml"),
      );
      await mkdir(join(folder, "home/skills/binary"));
      await writeFile(join(folder, "home/skills/binary/SKILL.md"), Buffer.from([45, 45, 45, 10, 255]));
    },
  );
  expect(found).toContain("user-agent-skills");
});

test("lists the same plugins as Codex does", async () => {
  const cache = "home/plugins/cache";
  const versions = VERSIONS.flatMap((names, index) =>
    names.map((name) => [`${cache}/mk/v${index}/${name}/.codex-plugin/plugin.json`, '{"name":"v"}'] as const),
  );
  const plugins = {
    ...numbered(MANIFESTS, `${cache}/mk/m#/1.0.0/.codex-plugin/plugin.json`),
    ...numbered(MANIFESTS, `${cache}/mk/m#/1.0.0/skills/s/SKILL.md`, () => skill("s")),
    ...numbered(MANIFESTS, `${cache}/mk/m#/1.0.0/.mcp.json`, () => "{}"),
    ...numbered(MANIFESTS, `${cache}/mk/m#/1.0.0/cfg/m.json`, () => "[]"),
    ...Object.fromEntries(versions),
    ...numbered(INSTALLS, `${cache}/mk/i#/.codex-remote-plugin-install.json`),
    ...numbered(INSTALLS, `${cache}/mk/i#/1.0.0/.claude-plugin/plugin.json`, () => '{"name":"i"}'),
    [`${cache}/mk/none/1.0.0/readme`]: "",
    ...Object.fromEntries(
      ["mk/with.dot", "mk/.hidden", "mk/two..dots", "mk/sp ace", "m.k/x", "a/z", "z/a"].map((name) => [
        `${cache}/${name}/1.0.0/.codex-plugin/plugin.json`,
        '{"name":"x"}',
      ]),
    ),
  };
  const found = await expectSame(plugins, async (folder) => {
    await symlink(join(folder, cache, "mk/v0"), join(folder, cache, "mk/link"));
    await mkdir(join(folder, cache, "mk/vlink"));
    await symlink(join(folder, cache, "mk/v0/1.2.0"), join(folder, cache, "mk/vlink/1.2.0"));
  });
  expect(found).toContain('"remotePluginId": "id"');
});

test.each(BAD_INSTALLS)("passes over the installation %.40s as Codex does", async (install) => {
  const found = await expectSame({
    "home/plugins/cache/mk/i/.codex-remote-plugin-install.json": install,
    "home/plugins/cache/mk/i/1.0.0/.codex-plugin/plugin.json": '{"name":"i"}',
  });
  expect(found).toContain("some capability locations could not be resolved");
});

test("takes and refuses the same requests, in a sandbox too", async () => {
  await using temporary = await tempFolder("installed");
  const folder = await realpath(temporary.path);
  await write(folder, {
    "home/skills/a/SKILL.md": skill("a"),
    "user/.agents/skills/b/SKILL.md": skill("b"),
    "home/plugins/cache/mk/p/1.0.0/.codex-plugin/plugin.json": '{"name":"p"}',
  });
  await symlink(join(folder, "home"), join(folder, "link"));
  const confined = (...paths: string[]): object => ({
    permissions: {
      type: "managed",
      network: "restricted",
      file_system: {
        type: "restricted",
        entries: [
          { path: { type: "special", value: { kind: "minimal" } }, access: "read" },
          ...paths.map((path) => ({
            path: { type: "path", path: `file://${folder}/${path}` },
            access: "read",
          })),
        ],
      },
    },
    cwd: "file:///",
    windowsSandboxLevel: "disabled",
  });
  const requests = [
    ...["file:///", "file:///nope", "file:///C:/x", "file://host/x", "nope", "http://x", 3].map((cwd) => ({
      cwd,
    })),
    {},
    undefined,
    { cwd: "file:///", extra: 1 },
    { cwd: "file:///", sandbox: null },
    { cwd: "file:///", sandbox: { permissions: { type: "disabled" }, windowsSandboxLevel: "disabled" } },
    { cwd: "file:///", sandbox: {} },
    { cwd: "file:///", sandbox: confined() },
    { cwd: "file:///", sandbox: confined("home/skills") },
    { cwd: "file:///", sandbox: confined("user") },
    { cwd: "file:///", sandbox: confined("home") },
  ];
  const { ours, codex } = await answers(folder, requests, "link");
  expect(ours).toEqual(codex);
});
