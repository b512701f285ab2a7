// Writes docs/reference, or the folder in the first argument: one Markdown page per entry point of every published package, from
// the sources and their JSDoc. TypeDoc needs the API of TypeScript 6, which is installed for this folder alone.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Application, type ProjectReflection, ReflectionKind } from "typedoc";
import { addUnionTables } from "./add-union-tables.ts";
import { type EntryPoint, readEntryPoints } from "./entry-points.ts";

const root = join(import.meta.dirname, "../..");
const [out = join(root, "docs/reference")] = process.argv.slice(2).map((path) => resolve(path));
const entryPoints = readEntryPoints(root);

/** Options of the Markdown plugin, which are missing in TypeDoc's types. */
const markdownOptions: Readonly<Record<string, unknown>> = {
  router: "module",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  typeAliasPropertiesFormat: "table",
};

const app = await Application.bootstrapWithPlugins({
  plugin: ["typedoc-plugin-markdown"],
  entryPoints: entryPoints.map(({ source }) => source),
  tsconfig: join(import.meta.dirname, "tsconfig.json"),
  basePath: root,
  readme: "none",
  // Thousands of generated types, which docs/protocol.md covers.
  exclude: ["**/generated/v2/**"],
  // Without line numbers: they would change the reference with every commit.
  disableSources: true,
  disableGit: true,
  excludeInternal: true,
  excludePrivate: true,
  // The build reports errors in the sources.
  skipErrorChecking: true,
  logLevel: "Error",
  sort: ["source-order"],
  ...markdownOptions,
});
const project = await app.convert();
if (!project) throw new Error("TypeDoc could not read the sources.");
nameModules(project);
addUnionTables(project);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await app.outputs.writeOutput({ name: "markdown", path: out }, project);
writeFileSync(join(out, "README.md"), index(entryPoints));

/** Names modules by their import specifier. Leaves out namespaces, which contain the generated wire types. */
function nameModules(converted: ProjectReflection): void {
  const names = new Map(entryPoints.map(({ name, source }) => [toModuleName(source), name]));
  for (const module of converted.children ?? []) {
    const name = names.get(module.name);
    if (name === undefined) throw new Error(`No entry point has the sources of ${module.name}.`);
    module.name = name;
    const namespaces = module.getChildrenByKind(ReflectionKind.Namespace);
    for (const namespace of namespaces) converted.removeReflection(namespace);
  }
}

/** TypeDoc names a module after its file, or after the folder of an `index.ts`. */
function toModuleName(source: string): string {
  const path = source.endsWith("index.ts") ? dirname(source) : source.replace(/\.ts$/, "");
  return relative(root, path).replaceAll("\\", "/");
}

function index(pages: readonly EntryPoint[]): string {
  const rows = pages.map(({ name, description }) => `- [\`${name}\`](${name}.md): ${description}`);
  return `# API reference

Generated from the sources by \`npm run reference\`: one page per entry point.

${rows.join("\n")}
`;
}
