import { expect, test } from "vitest";
import { findCommandPasswords } from "./command-passwords.ts";

const passwordsIn = (text: string): string[] =>
  Array.from(findCommandPasswords(text), ({ start, end }) => text.slice(start, end));

test.each([
  ["sshpass -p hunter2hunter ssh -p 2222 host", "hunter2hunter"],
  ["sudo /usr/bin/sshpass -phunter2 ssh host", "hunter2"],
  ["mysql -u root -phunter2 shop", "hunter2"],
  ["cd /srv && mysqldump -h db -uapp -p'hunter2' shop", "hunter2"],
  ["mongosh --port 27017 -u admin -p hunter2", "hunter2"],
  ["redis-cli -h cache -a hunter2 ping", "hunter2"],
  ["docker login -u ann -p hunter2 registry.example", "hunter2"],
  ["curl -s -u ann:hunter2 https://example.com", "hunter2"],
  ["server --verbose --password hunter2", "hunter2"],
  ["server --api-key 'hunter2' run", "hunter2"],
  ["deploy --registry-token hunter2", "hunter2"],
  [String.raw`{"command":"/bin/bash -lc \"sshpass -p \\\"hunter2\\\" ssh host\""}`, "hunter2"],
  [String.raw`"first\nmongosh -p hunter2\nlast"`, "hunter2"],
])("finds the password in %s", (command, password) => {
  expect(passwordsIn(command)).toEqual([password]);
});

test.each([
  "mkdir -p src/deeply/nested",
  "ssh -p 2222 host && cp -p first second",
  "docker run -p 8080:80 image",
  "docker compose -p project up; docker login registry.example",
  "mysql -p shop_database",
  "mysql -P 33060 -h db shop",
  "psql -p 5432 shop",
  "git log -p package.json",
  "nmap -p 1-1000 host",
  "curl -u ann https://example.com",
  "sshpass -p $PASSWORD ssh host",
  "mongosh -p --port 27017",
  "sshpass -f file; nc -p 12345 host",
  "The option --token sets the token, and --password prompts.",
  "--password <password>",
])("finds none in %s", (command) => {
  expect(passwordsIn(command)).toEqual([]);
});

test.each(["sshpass ", "sshpass -p ", "--token ", "-p ", "mysql -p", "docker login ", "curl -u a:"])(
  "takes linear time for many repetitions of %j",
  (piece) => {
    for (const start of ["", "sshpass ", "--token '", "docker login "]) {
      passwordsIn(start + piece.repeat(300_000 / piece.length));
    }
  },
);
