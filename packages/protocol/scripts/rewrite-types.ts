/**
 * Adapts a generated file: `bigint` becomes `number`, because messages contain plain JSON numbers (and `JSON.stringify(1n)`
 * throws), and relative imports get the file extension that ES modules need.
 */
export function rewriteTypes(source: string): string {
  return source
    .replace(/\bbigint\b/g, "number")
    .replace(/from "(?<path>\.[^"]*)"/g, (_match, path: string) => {
      const isFolder = /(?:^|\/)v2$/.test(path);
      return `from "${path}${isFolder ? "/index.ts" : ".ts"}"`;
    });
}
