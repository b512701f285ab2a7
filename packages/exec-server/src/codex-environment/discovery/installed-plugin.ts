import * as z from "zod";
import { type FrontMatter, readFrontMatter } from "./front-matter.ts";
import { manifestFolder, type RootBundle, type TextFile } from "./root-bundle.ts";
import { readSkillMetadata, type SkillMetadata } from "./skill-metadata.ts";

/** A listed skill. Its name is prefixed with the name of the plugin that contains it, if any. */
export interface ListedSkill extends FrontMatter, SkillMetadata {
  readonly path: string;
}

/** A namespace, a colon and a name. */
const QUALIFIED_CHARACTERS = 64 * 2 + 1;

const manifestName = z.object({ name: z.string().default("") });

const manifestTitle = manifestName.extend({
  interface: z.object({ displayName: z.string().nullish() }).nullish(),
});

const inlineServers = z.object({ mcpServers: z.record(z.string(), z.unknown()) });

const namedFiles = z.object({ mcpServers: z.unknown(), apps: z.unknown() }).partial();

type PluginFiles = NonNullable<RootBundle["plugin"]>;

/**
 * Returns the display name of a plugin. Undefined if its manifest can't be read; the plugin is then skipped.
 */
export function displayName(manifest: TextFile): string | undefined {
  const title = parseJson(manifestTitle, manifest.contents);
  if (!title) return undefined;
  return title.interface?.displayName?.trim() || nameOr(title.name, manifest);
}

/** Returns MCP servers that are defined in the manifest itself as a separate configuration file. */
export function withInlineServers(plugin: PluginFiles): PluginFiles {
  const inline = parseJson(inlineServers, plugin.manifest.contents);
  if (!inline) return plugin;
  return {
    ...plugin,
    mcpConfig: { path: plugin.manifest.path, contents: JSON.stringify(inline.mcpServers) },
  };
}

/** Whether the manifest refers to a file that could not be read. */
export function lacksFile({ manifest, mcpConfig, appsConfig }: PluginFiles): boolean {
  const named = parseJson(namedFiles, manifest.contents);
  return (
    (typeof named?.mcpServers === "string" && !mcpConfig) || (typeof named?.apps === "string" && !appsConfig)
  );
}

/** Lists the skills of a root, ordered by path. Skips unreadable ones with a warning. */
export function listSkills(bundle: RootBundle, warnings: string[]): ListedSkill[] {
  const namespaces = namespacesOf(bundle.namespaceManifests);
  return bundle.skills.flatMap(({ instructions: { path, contents }, metadata }) => {
    try {
      const folder = parentOf(path);
      const { name, description, shortDescription } = readFrontMatter(contents, baseName(folder));
      const qualified = qualify(name, folder, namespaces);
      return [
        { name: qualified, description, shortDescription, path, ...readSkillMetadata(metadata?.contents) },
      ];
    } catch {
      warnings.push(`invalid skill metadata at ${path}`);
      return [];
    }
  });
}

function namespacesOf(manifests: readonly TextFile[]): ReadonlyMap<string, string> {
  const namespaces = new Map<string, string>();
  for (const manifest of manifests) {
    const parsed = parseJson(manifestName, manifest.contents);
    const folder = manifestFolder(manifest.path);
    if (parsed && folder !== undefined) namespaces.set(folder, nameOr(parsed.name, manifest));
  }
  return namespaces;
}

/** Prefixes a name with that of the nearest plugin that contains the folder. */
function qualify(name: string, folder: string, namespaces: ReadonlyMap<string, string>): string {
  for (let at = folder; at.length > "file://".length; at = parentOf(at)) {
    const namespace = namespaces.get(at);
    if (namespace === undefined) continue;
    const qualified = `${namespace}:${name}`;
    if (Array.from(qualified).length > QUALIFIED_CHARACTERS) throw new RangeError("The name is too long.");
    return qualified;
  }
  return name;
}

/** Returns the name of a plugin, or that of its folder if it has none. */
function nameOr(name: string, manifest: TextFile): string {
  return name.trim() === "" ? baseName(manifestFolder(manifest.path) ?? "") : name;
}

function parentOf(uri: string): string {
  return uri.slice(0, uri.lastIndexOf("/"));
}

function baseName(uri: string): string {
  return decodeURIComponent(uri.slice(uri.lastIndexOf("/") + 1));
}

function parseJson<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
