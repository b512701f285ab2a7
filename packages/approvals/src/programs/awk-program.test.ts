import { describe, expect, it } from "vitest";
import { isHarmlessAwkProgram } from "./awk-program.ts";

describe("an awk program", () => {
  it.each([
    "{print $2}",
    "NR>1 {s+=$3} END {print s}",
    "$3 > 1000 {print $1}",
    "NR>5 && NR<10",
    "{ if ($1 > 5) print $0 }",
    "/foo/ {print; exit}",
    'length > 120 {print FILENAME": "FNR}',
    '{print $1, ($2 > 3 ? "a" : "b")}',
    '{printf "%s\\n", $1}',
    "$1 > max {max=$1} END{print max}",
    "!seen[$0]++",
    '{gsub(/"/, "\\""); print "> not a file"}',
    'BEGIN{FS=","; OFS="\\t"} {$1=$1; print}',
    "/start/,/end/",
    "{print $1 / 2; x = y > 3}",
    "{print a[x > 1]}",
    "# comment with | and >\n{print}",
    'BEGIN { print ENVIRON["HOME"] }',
    "function f(x) { return x * 2 } { print f($1) }",
    "{ if (/a[|>]b/ || $2 ~ /c|d/) n++ } END { print n }",
    "{print $NF/1024}",
    "/a/ {n++}\n/b/ {m++}\nEND {print n, m}",
  ])("that only prints is harmless: %j", (program) => {
    expect(isHarmlessAwkProgram(program)).toBe(true);
  });

  it.each([
    '{print > "out"}',
    '{print $1 > "out"}',
    '{print >> "out"}',
    '{print($1) > "out"}',
    '{printf("%s", $1) > $2}',
    '{print $1,\n$2 > "out"}',
    '{print a[1] > "out"}',
    '{print "x" | "sh"}',
    '{print |& "sh"}',
    '{"id" | getline x}',
    '{getline x < "f"}',
    'BEGIN{system("id")}',
    'BEGIN{ system ( "id" ) }',
    '@load "x"\n{print}',
    '@include "x"',
    'BEGIN{f="system"; @f("id")}',
    'BEGIN{ARGV[1]="/etc/passwd"}',
    "{print} }",
    "{print",
    '{ x = "unterminated }',
    'BEGIN{if (1) /"/; print "x" > "out"; y="/"}',
    'BEGIN{x = a++ / 1; print "/" > "f"}',
    '{print /[/]/ > "x"}',
    '{x = "a\nb" ; print > "f"}',
    '{ print $1 \\\n > "out" }',
    'NR==1\n/"/ {x}; {print "a" > "f"; y="/"}',
    '{ next\n/"/; print "a" > "f"; y = "/" }',
    '{ x = $/"/; print "a" > "f"; y = "/" }',
    "`id`",
    'BEGIN { printf "a" > "b" }',
    'BEGIN { if (x) print "a" > "b"; else print }',
    '{ print(1)(2) > "f" }',
    '{ print -1 " " -1 > "f" }',
  ])("that may do more is not: %j", (program) => {
    expect(isHarmlessAwkProgram(program)).toBe(false);
  });

  it("is read in linear time", () => {
    expect(isHarmlessAwkProgram(`{print ${"(".repeat(50_000)}`)).toBe(false);
    expect(isHarmlessAwkProgram(`/${"[[:a".repeat(20_000)}/`)).toBe(false);
    expect(isHarmlessAwkProgram(`"${"\\".repeat(50_001)}`)).toBe(false);
  });
});
