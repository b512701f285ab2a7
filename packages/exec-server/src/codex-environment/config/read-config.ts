import { realpath } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import type { Method } from "../../session/method.ts";
import type { EnvironmentConfig, EnvironmentConfigStack } from "../../wire/exec-wire.ts";
import { nativeTextPath, pathUri } from "../../wire/path-uri.ts";
import { CODES, Refusal } from "../../wire/refusal.ts";
import { readToml } from "./config-file.ts";
import { isFolder } from "./git-root.ts";
import { managedRequirements } from "./managed-requirements.ts";
import { type ConfigLayer, projectLayers } from "./project-layers.ts";
import { findProject } from "./project-trust.ts";
import { printToml, projectToml } from "./project-toml.ts";

/** Folder of the machine-wide configuration. */
const SYSTEM_FOLDER = "/etc/codex";

const keyPaths = z.array(z.array(z.string()).min(1, "TOML paths must contain at least one key segment"));

const readParams = z
  .object({ cwd: z.string(), configPaths: keyPaths, requirementsPaths: keyPaths })
  .refine(
    ({ configPaths, requirementsPaths }) => configPaths.length + requirementsPaths.length > 0,
    "at least one config or requirements path is required",
  );

type ReadParams = z.output<typeof readParams>;

interface Stack {
  readonly layers: readonly ConfigLayer[];
  /**
   * Index at which layers from the cloud are inserted. Layers before it have lower precedence than the
   * cloud's.
   */
  readonly cloudInsertionIndex: number;
}

/**
 * Implements `environmentConfig/read`: selected settings of this machine, layer by layer, for a Codex on
 * another machine.
 */
export function environmentConfigMethod(): Method {
  return { params: readParams, lane: "ordinary", run: (params: ReadParams) => readConfig(params) };
}

/** Reads the layers on every call, because users edit the files. */
export async function readConfig(
  { cwd, configPaths, requirementsPaths }: ReadParams,
  systemFolder = SYSTEM_FOLDER,
): Promise<EnvironmentConfig> {
  const folder = nativeTextPath(cwd).replace(/(?<=.)\/+$/, "");
  const codexHome = await findCodexHome();
  const { config, requirements } = await loadLayers(folder, codexHome, systemFolder);
  const host = hostname().trim().replace(/\.+$/, "").toLowerCase();
  return {
    userHomeDir: pathUri(homedir()),
    codexHomeDir: pathUri(codexHome),
    hostname: host === "" ? null : host,
    config: projectStack(config, configPaths),
    requirements: projectStack(requirements, requirementsPaths),
  };
}

async function loadLayers(
  cwd: string,
  codexHome: string,
  systemFolder: string,
): Promise<{ config: Stack; requirements: Stack }> {
  const at = (name: string): string => join(systemFolder, name);
  const managed = await readToml(at("managed_config.toml"));
  const system = (await readToml(at("config.toml"))) ?? {};
  const user = (await readToml(join(codexHome, "config.toml"))) ?? {};
  const project = await findProject(cwd, managed ? [system, user, managed] : [system, user]);
  const ofProject = await projectLayers(cwd, project, codexHome);
  const required = await readToml(at("requirements.toml"), "requirements file");

  const config: ConfigLayer[] = [
    { source: `system (${at("config.toml")})`, baseDir: systemFolder, toml: system },
    { source: `user (${join(codexHome, "config.toml")})`, baseDir: codexHome, toml: user },
    ...ofProject,
  ];
  const requirements: ConfigLayer[] = [];
  if (required) requirements.push({ source: at("requirements.toml"), baseDir: systemFolder, toml: required });
  if (managed) {
    const path = at("managed_config.toml");
    config.push({ source: `legacy managed_config.toml (${path})`, baseDir: systemFolder, toml: managed });
    requirements.push({ source: path, baseDir: systemFolder, toml: managedRequirements(managed) });
  }
  return {
    config: { layers: config, cloudInsertionIndex: 1 },
    requirements: { layers: requirements, cloudInsertionIndex: required ? 1 : 0 },
  };
}

/** Projects each layer to the requested paths, and drops layers that contain none of them. */
function projectStack(
  { layers, cloudInsertionIndex }: Stack,
  paths: readonly (readonly string[])[],
): EnvironmentConfigStack {
  const projected = layers.map(({ source, baseDir, toml }) => {
    const chosen = projectToml(toml, paths);
    return chosen && { source, baseDir: pathUri(baseDir), toml: printToml(chosen) };
  });
  const present = projected.filter((layer) => layer !== undefined);
  const before = projected.slice(0, cloudInsertionIndex).filter((layer) => layer !== undefined);
  return { layers: present, cloudInsertionIndex: before.length };
}

/** Finds Codex's home. `CODEX_HOME` must exist if it is set; the default may be missing. */
async function findCodexHome(): Promise<string> {
  const chosen = process.env["CODEX_HOME"];
  if (chosen === undefined || chosen === "") return join(homedir(), ".codex");
  if (await isFolder(chosen)) return realpath(chosen);
  throw new Refusal(
    CODES.internal,
    `failed to find Codex home: CODEX_HOME points to ${JSON.stringify(chosen)}, but that path is not a directory`,
  );
}
