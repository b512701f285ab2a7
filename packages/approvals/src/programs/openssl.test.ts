import { describeProgram } from "../../test/describe-program.ts";
import { openssl } from "./openssl.ts";

describeProgram(openssl, {
  understood: {
    "version -a": [],
    "x509 -in cert.pem -noout -text": ["read cert.pem"],
    "x509 -in cert.pem -noout -enddate -checkend 86400": ["read cert.pem"],
    "dgst -sha256 a b": ["read a", "read b"],
    "rand -hex 32": [],
    "rand -out key.bin 32": ["write key.bin"],
    "s_client -connect example.test:443 -servername example.test": ["send example.test:443"],
    "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 365 -subj /CN=localhost": [
      "write key.pem",
      "write cert.pem",
    ],
    "genrsa -out key.pem 2048": ["write key.pem"],
    "verify -CAfile ca.pem cert.pem": ["read ca.pem", "read cert.pem"],
    "base64 -d -in a -out b": ["read a", "write b"],
  },
  notUnderstood: [
    "verify http://evil.example/secret cert.pem",
    "x509 -in http://evil.example/x -noout",
    "crl -in HTTP://evil.example/x",
    "x509 -in file:/etc/hosts",
    "pkcs11:object=x",
    "x509 -in cert.pem -engine ./evil.so",
    "x509 -req -in x -CA ca.pem",
    "dgst -engine x a",
    "dgst -sign key.pem a",
    "req -config x.cnf -new",
    "req -new -provider-path . -provider evil",
    "s_client -proxy a:1 -connect b:2",
    "s_client -keylogfile x -connect a:1",
    "s_client -connect <unknown>",
    "s_server -accept 1",
    "enc -aes-256-cbc -pass env:X -in a",
    "ca -config x",
    "x509 -i cert.pem",
    "<unknown>",
    "dgst *",
  ],
});
