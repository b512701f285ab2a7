import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type FileChange,
  type ParsedDiff,
  parseChanges,
  parseDiff,
  parseTurns,
  runParser,
} from "./parse-diff.ts";

const TWO_FILES = `diff --git a/src/a.ts b/src/a.ts
index 1111111..2222222 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,4 @@ function a()
 one
-two
+zwei
+drei
 four
@@ -10 +11 @@
---- ten
++++ zehn
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+hello
\\ No newline at end of file
`;

function rowsOf({ rows }: ParsedDiff): string[] {
  return Array.from({ length: rows.count }, (_, index) => {
    const { kind, text, oldLine, newLine } = rows.at(index);
    return `${kind} ${oldLine} ${newLine} ${text}`;
  });
}

describe("parseDiff", () => {
  it("reads files, hunks and line numbers", () => {
    const diff = runParser(parseDiff(TWO_FILES));
    expect(diff.files).toEqual([
      {
        path: "src/a.ts",
        oldPath: null,
        kind: "changed",
        added: 3,
        removed: 2,
        turn: null,
        firstRow: 0,
        endRow: 9,
        hunks: [0, 6],
      },
      {
        path: "new.txt",
        oldPath: null,
        kind: "added",
        added: 1,
        removed: 0,
        turn: null,
        firstRow: 9,
        endRow: 12,
        hunks: [9],
      },
    ]);
    expect(rowsOf(diff)).toEqual([
      "hunk 1 1 @@ -1,3 +1,4 @@ function a()",
      "context 1 1 one",
      "removed 2 0 two",
      "added 0 2 zwei",
      "added 0 3 drei",
      "context 3 4 four",
      "hunk 10 11 @@ -10 +11 @@",
      "removed 10 0 --- ten",
      "added 0 11 +++ zehn",
      "hunk 0 1 @@ -0,0 +1 @@",
      "added 0 1 hello",
      String.raw`note 0 0 \ No newline at end of file`,
    ]);
  });

  it("reads renames, deletions, binary files and quoted names", () => {
    const { files } = runParser(
      parseDiff(
        [
          "diff --git a/old name b/new name",
          "similarity index 90%",
          "rename from old name",
          "rename to new name",
          String.raw`diff --git "a/\303\244.txt" "b/\303\244.txt"`,
          "deleted file mode 100644",
          String.raw`--- "a/\303\244.txt"`,
          "+++ /dev/null",
          "@@ -1 +0,0 @@",
          "-x",
          "diff --git a/logo.png b/logo.png",
          "Binary files a/logo.png and b/logo.png differ",
        ].join("\n"),
      ),
    );
    expect(files).toMatchObject([
      { path: "new name", oldPath: "old name", kind: "renamed", firstRow: 0, endRow: 0 },
      { path: "ä.txt", kind: "deleted", removed: 1 },
      { path: "logo.png", kind: "changed", firstRow: 2, endRow: 3 },
    ]);
  });

  it("reads diffs without Git headings", () => {
    const { files } = runParser(
      parseDiff(
        "--- a.txt\t2026\n+++ a.txt\t2026\n@@ -1 +1 @@\n-a\n+b\n--- b.txt\n+++ b.txt\n@@ -1 +1 @@\n-a\n+b",
      ),
    );
    expect(files).toMatchObject([
      { path: "a.txt", added: 1 },
      { path: "b.txt", added: 1 },
    ]);
  });

  it("shows lines that a heading does not count, instead of hiding them", () => {
    const diff = runParser(
      parseDiff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+rm -rf /\nfree text"),
    );
    expect(rowsOf(diff).slice(3)).toEqual(["note 0 0 +rm -rf /", "note 0 0 free text"]);
  });

  it("never loses a line of any text", () => {
    const line = fc.oneof(
      fc.constantFrom(
        "@@ -1,2 +1,2 @@",
        "@@",
        "--- a/x",
        "+++ b/x",
        "diff --git a/x b/x",
        "rename to y",
        "\\ No newline",
      ),
      fc
        .tuple(fc.constantFrom("+", "-", " ", "", "x"), fc.stringMatching(/^[a-z]{1,4}$/))
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const diff = runParser(parseDiff(lines.join("\n")));
        const shown =
          rowsOf(diff).join("\n") + diff.files.map((file) => `${file.path} ${file.oldPath}`).join("\n");
        for (const text of lines.filter((candidate) => /^[-+ x]?[a-z]{2,}$/.test(candidate))) {
          expect(shown).toContain(text.replace(/^[-+ ]/, ""));
        }
      }),
    );
  });

  it("pauses regularly", () => {
    const text = `--- a/x\n+++ b/x\n@@ -0,0 +1,10000 @@\n${"+line\n".repeat(10_000)}`;
    let pauses = 0;
    const parser = parseDiff(text);
    let step = parser.next();
    while (step.done !== true) {
      pauses += 1;
      step = parser.next();
    }
    expect(pauses).toBeGreaterThanOrEqual(5);
    expect(step.value.files).toMatchObject([{ added: 10_000 }]);
  });
});

describe("parseChanges", () => {
  const parse = (changes: readonly FileChange[]): ParsedDiff => runParser(parseChanges(changes));

  it("shows every line of an added and of a deleted file", () => {
    const diff = parse([
      { path: "a", kind: "add", diff: "one\ntwo\n" },
      { path: "b", kind: "delete", diff: "three" },
    ]);
    expect(diff.files).toMatchObject([
      { path: "a", kind: "added", added: 2, firstRow: 0, endRow: 2 },
      { path: "b", kind: "deleted", removed: 1, firstRow: 2, endRow: 3 },
    ]);
    expect(rowsOf(diff)).toEqual(["added 0 1 one", "added 0 2 two", "removed 1 0 three"]);
  });

  it("does not read the contents of an added file as a diff", () => {
    const diff = parse([{ path: "a", kind: "add", diff: "@@ -1,9 +1,9 @@\nrm -rf /\n" }]);
    expect(rowsOf(diff)).toEqual(["added 0 1 @@ -1,9 +1,9 @@", "added 0 2 rm -rf /"]);
  });

  it("reads the hunks of a changed file, and keeps the path of the approval", () => {
    const diff = parse([
      {
        path: "/srv/a",
        kind: "update",
        diff: "--- a/other\n+++ b/other\n@@ -1 +1 @@\n-x\n+y\n\nMoved to: /srv/b",
      },
    ]);
    expect(diff.files).toMatchObject([{ path: "/srv/a", kind: "changed", added: 1, removed: 1, hunks: [0] }]);
    expect(rowsOf(diff).at(-1)).toBe("note 0 0 Moved to: /srv/b");
  });
});

describe("parseTurns", () => {
  it("names the turn that changed a file", () => {
    const diff = runParser(
      parseTurns([
        { title: "first", diff: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" },
        { title: "second", diff: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\n" },
      ]),
    );
    expect(diff.files).toMatchObject([
      { path: "x", turn: "first", firstRow: 0, endRow: 3 },
      { path: "x", turn: "second", firstRow: 3, endRow: 6 },
    ]);
    expect(rowsOf(diff).at(-1)).toBe("added 0 1 c");
  });
});
