// Tests that the files of deploy/ are valid and pass only options that the programs have.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DCLinter } from "dclint";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { PersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim";
import { Service } from "kubernetes-models/v1/Service";
import { afterAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createProgram } from "../packages/cli/src/program.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(root, "deploy", file), "utf8");

const MODELS = { Deployment, NetworkPolicy, PersistentVolumeClaim, PodDisruptionBudget, Service } as const;
type Kind = keyof typeof MODELS;

/** The module that declares the interface of a kind. */
const MODULES: Readonly<Record<Kind, string>> = {
  Deployment: "apps/v1/Deployment",
  NetworkPolicy: "networking.k8s.io/v1/NetworkPolicy",
  PersistentVolumeClaim: "v1/PersistentVolumeClaim",
  PodDisruptionBudget: "policy/v1/PodDisruptionBudget",
  Service: "v1/Service",
};

type Manifest = ConstructorParameters<typeof Deployment>[0] & { readonly kind: Kind };

const manifests = ["fleet.yaml", "exec-server.yaml"].flatMap((file) =>
  parseAllDocuments(read(`kubernetes/${file}`)).map((document) => ({
    file,
    errors: document.errors,
    manifest: document.toJS() as Manifest,
  })),
);

/** Below the root, so that packages are resolved. Ignored by git. */
const folder = join(root, "node_modules/.cache/deploy");

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compiles the manifests as object literals and returns the errors. Unlike the schemas, the compiler rejects unknown keys. */
function findUnknownKeys(all: readonly Manifest[]): string {
  mkdirSync(folder, { recursive: true });
  const lines = all.map(
    (manifest, index) =>
      `export const manifest${index}: import("kubernetes-models/${MODULES[manifest.kind]}").I${manifest.kind} = ${JSON.stringify(manifest)};\n`,
  );
  writeFileSync(join(folder, "manifests.ts"), lines.join(""));
  const options = { noEmit: true, composite: false, strict: true, skipLibCheck: true, types: [] };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.base.json"),
      compilerOptions: options,
      include: ["*.ts"],
    }),
  );
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" }).stdout;
}

describe("the Kubernetes manifests", () => {
  it("are YAML", () => {
    expect(manifests.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it.each(manifests.map(({ file, manifest }) => [file, manifest.kind, manifest] as const))(
    "%s: %s is valid",
    (_file, kind, manifest) => {
      const model = new MODELS[kind](manifest as never);
      expect(() => model.validate()).not.toThrow();
    },
  );

  it("have no unknown keys", { timeout: 120_000 }, () => {
    expect(findUnknownKeys(manifests.map(({ manifest }) => manifest))).toBe("");
  });

  it("stop a node only after the Service has stopped sending requests to it, and wait for its drain", () => {
    const { manifest } =
      manifests.find(({ file, manifest: { kind } }) => file === "fleet.yaml" && kind === "Deployment") ?? {};
    const pod = manifest?.spec?.template.spec;
    const [node] = pod?.containers ?? [];
    const [program, seconds] = node?.lifecycle?.preStop?.exec?.command ?? [];
    expect([program, Number(seconds)]).toEqual(["sleep", expect.toSatisfy((value: number) => value >= 5)]);
    const minutes = Number(
      /^--drain=(\d+)m$/.exec(node?.args?.find((arg) => arg.startsWith("--drain=")) ?? "")?.[1],
    );
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + minutes * 60);
  });

  it("are checked by validators that find mistakes", { timeout: 120_000 }, () => {
    const { manifest } = manifests.find((each) => each.manifest.kind === "Deployment") ?? {};
    const misspelt = JSON.parse(JSON.stringify(manifest).replace("readinessProbe", "redinessProbe"));
    const wrong = JSON.parse(JSON.stringify(manifest).replace('"replicas":3', '"replicas":"3"'));
    expect(findUnknownKeys([misspelt])).toContain("redinessProbe");
    expect(() => new Deployment(wrong).validate()).toThrow("replicas must be integer");
  });
});

// The package's declarations of messages can't be resolved.
const isError = ({ type }: { readonly type: string }): boolean => type === "error";

describe("the compose file", () => {
  it("is valid", () => {
    const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] });
    const [result] = linter.lintFiles([join(root, "deploy/compose.yaml")], false);
    expect(result?.messages.filter(isError)).toEqual([]);
  });

  it("is checked by a validator that finds mistakes", () => {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, "compose.yaml");
    writeFileSync(path, read("compose.yaml").replace("healthcheck:", "healthchek:"));
    const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] });
    const [result] = linter.lintFiles([path], false);
    expect(result?.messages.filter(isError)).not.toEqual([]);
  });
});

describe("the options in the files", () => {
  const serve = createProgram().commands.find((command) => command.name() === "serve");
  const known = new Set(serve?.options.map(({ long }) => long));
  const execServerHelp = spawnSync(
    process.execPath,
    [
      "--conditions=codexkit:source",
      join(root, "packages/exec-server/bin/codexkit-exec-server.mjs"),
      "--help",
    ],
    { encoding: "utf8" },
  ).stdout;

  const compose = parse(read("compose.yaml"), { merge: true }) as {
    readonly services: Readonly<Record<string, { readonly command?: readonly string[] }>>;
  };
  const [, entrypoint = "[]"] = /^ENTRYPOINT (.*)$/m.exec(read("Dockerfile")) ?? [];
  const lists: [string, readonly string[]][] = [
    ["Dockerfile", JSON.parse(entrypoint) as string[]],
    ...Object.entries(compose.services).map(([name, { command = [] }]): [string, readonly string[]] => [
      `compose.yaml: ${name}`,
      command,
    ]),
  ];
  for (const { file, manifest } of manifests) {
    const containers = (
      manifest as { spec?: { template?: { spec?: { containers?: { args?: string[] }[] } } } }
    ).spec?.template?.spec?.containers;
    for (const { args = [] } of containers ?? []) lists.push([file, args]);
  }

  it.each(lists)("of %s exist", (where, args) => {
    const flags = args.filter((arg) => arg.startsWith("--")).map((arg) => arg.replace(/=.*$/, ""));
    const unknown = flags.filter((flag) =>
      where === "exec-server.yaml" ? !execServerHelp.includes(`${flag} `) : !known.has(flag),
    );
    expect(unknown).toEqual([]);
  });
});
