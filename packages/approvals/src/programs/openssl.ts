import { declareProgram, flag, type OptionTable, value } from "./declaration/declaration.ts";

const INPUT_OPTIONS: OptionTable = { "-in": value("local-read"), "-inform": value("data") };
const OUTPUT_OPTIONS: OptionTable = { "-out": value("write"), "-outform": value("data") };

const DIGESTS: OptionTable = {
  "-blake2b512": flag,
  "-md5": flag,
  "-sha1": flag,
  "-sha224": flag,
  "-sha256": flag,
  "-sha3-256": flag,
  "-sha3-512": flag,
  "-sha384": flag,
  "-sha512": flag,
};

/** Options of the commands that convert and show keys. */
const KEY_OPTIONS: OptionTable = {
  ...INPUT_OPTIONS,
  ...OUTPUT_OPTIONS,
  "-check": flag,
  "-noout": flag,
  "-pubin": flag,
  "-pubout": flag,
  "-text": flag,
};

/**
 * Certificates, digests and keys. `-config`, `-engine`, `-provider` and `-provider-path` load code or settings, `-passin` and
 * `-pass` read secrets, and servers and authorities (`s_server`, `ca`, `ts`, `ocsp`) are not declared.
 */
export const openssl = declareProgram({
  names: ["openssl"],
  syntax: "words",
  subcommands: {
    asn1parse: {
      options: {
        ...INPUT_OPTIONS,
        "-dump": flag,
        "-i": flag,
        "-length": value("number"),
        "-noout": flag,
        "-offset": value("number"),
        "-strparse": value("number"),
      },
    },
    base64: {
      options: {
        "-A": flag,
        "-d": flag,
        "-e": flag,
        "-in": value("local-read"),
        "-out": value("write"),
      },
    },
    ciphers: {
      options: {
        "-s": flag,
        "-tls1_2": flag,
        "-tls1_3": flag,
        "-v": flag,
        "-V": flag,
      },
      operands: { first: ["data"] },
    },
    crl: {
      options: {
        ...INPUT_OPTIONS,
        ...OUTPUT_OPTIONS,
        "-hash": flag,
        "-issuer": flag,
        "-lastupdate": flag,
        "-nextupdate": flag,
        "-noout": flag,
        "-text": flag,
      },
    },
    dgst: {
      options: {
        ...DIGESTS,
        "-binary": flag,
        "-c": flag,
        "-hex": flag,
        "-out": value("write"),
        "-r": flag,
        "-signature": value("local-read"),
        "-verify": value("local-read"),
      },
      operands: { rest: "local-read" },
    },
    ec: {
      options: { ...KEY_OPTIONS, "-param_out": flag },
    },
    ecparam: {
      options: {
        ...INPUT_OPTIONS,
        ...OUTPUT_OPTIONS,
        "-genkey": flag,
        "-list_curves": flag,
        "-name": value("data"),
        "-noout": flag,
        "-text": flag,
      },
    },
    enc: {
      options: {
        "-a": flag,
        "-A": flag,
        "-base64": flag,
        "-d": flag,
        "-e": flag,
        "-in": value("local-read"),
        "-out": value("write"),
      },
    },
    genpkey: {
      options: {
        "-algorithm": value("data"),
        "-out": value("write"),
        "-outform": value("data"),
        "-pkeyopt": value("data"),
      },
    },
    genrsa: {
      options: {
        "-out": value("write"),
      },
      operands: { first: ["number"] },
    },
    pkey: {
      options: { ...KEY_OPTIONS, "-pubcheck": flag, "-text_pub": flag },
    },
    prime: {
      options: {
        "-bits": value("number"),
        "-checks": value("number"),
        "-generate": flag,
        "-hex": flag,
        "-safe": flag,
      },
      operands: { rest: "data" },
    },
    rand: {
      options: {
        "-base64": flag,
        "-hex": flag,
        "-out": value("write"),
      },
      operands: { first: ["number"] },
    },
    req: {
      options: {
        ...INPUT_OPTIONS,
        ...OUTPUT_OPTIONS,
        ...DIGESTS,
        "-addext": value("data"),
        "-days": value("number"),
        "-key": value("local-read"),
        "-keyout": value("write"),
        "-new": flag,
        "-newkey": value("data"),
        "-nodes": flag,
        "-noenc": flag,
        "-noout": flag,
        "-pubkey": flag,
        "-set_serial": value("data"),
        "-subj": value("data"),
        "-subject": flag,
        "-text": flag,
        "-utf8": flag,
        "-verify": flag,
        "-x509": flag,
      },
      // A new key is written to privkey.pem, or to a path in the configuration, unless its file is named.
      examine: ({ hasOption }) => {
        const makesKey = hasOption("-newkey") || (["-new", "-x509"].some(hasOption) && !hasOption("-key"));
        return makesKey && !hasOption("-keyout") ? "the file of the new key is not named" : [];
      },
    },
    rsa: {
      options: { ...KEY_OPTIONS, "-modulus": flag },
    },
    /** Standard input is sent to the peer. */
    s_client: {
      options: {
        "-alpn": value("data"),
        "-brief": flag,
        "-CAfile": value("local-read"),
        "-connect": value("send-host"),
        "-ign_eof": flag,
        "-no_ign_eof": flag,
        "-no_tls1_3": flag,
        "-noservername": flag,
        "-prexit": flag,
        "-quiet": flag,
        "-servername": value("data"),
        "-showcerts": flag,
        "-starttls": value("data"),
        "-status": flag,
        "-tls1_2": flag,
        "-tls1_3": flag,
        "-tlsextdebug": flag,
        "-verify": value("number"),
        "-verify_hostname": value("data"),
      },
    },
    verify: {
      options: {
        "-CAfile": value("local-read"),
        "-CApath": value("local-read"),
        "-purpose": value("data"),
        "-show_chain": flag,
        "-untrusted": value("local-read"),
        "-verbose": flag,
        "-verify_hostname": value("data"),
        "-x509_strict": flag,
      },
      operands: { rest: "local-read" },
    },
    version: {
      options: {
        "-a": flag,
        "-b": flag,
        "-d": flag,
        "-v": flag,
      },
    },
    x509: {
      options: {
        ...INPUT_OPTIONS,
        ...OUTPUT_OPTIONS,
        ...DIGESTS,
        "-certopt": value("data"),
        "-checkemail": value("data"),
        "-checkend": value("number"),
        "-checkhost": value("data"),
        "-checkip": value("data"),
        "-dates": flag,
        "-email": flag,
        "-enddate": flag,
        "-ext": value("data"),
        "-fingerprint": flag,
        "-hash": flag,
        "-issuer": flag,
        "-issuer_hash": flag,
        "-modulus": flag,
        "-nameopt": value("data"),
        "-noout": flag,
        "-ocsp_uri": flag,
        "-pubkey": flag,
        "-purpose": flag,
        "-serial": flag,
        "-startdate": flag,
        "-subject": flag,
        "-subject_hash": flag,
        "-text": flag,
      },
    },
  },
});
