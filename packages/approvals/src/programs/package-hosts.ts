/** The hosts from which package managers, git and people get packages, sources and manuals. */
export const PACKAGE_HOSTS = [
  // Sources.
  "**.githubusercontent.com **.github.com **.gitlab.com bitbucket.org",
  // JavaScript.
  "**.npmjs.org cdn.jsdelivr.net deno.land developer.mozilla.org esm.sh jsr.io nodejs.org registry.yarnpkg.com unpkg.com",
  // Python, Ruby, PHP and Erlang.
  "docs.python.org files.pythonhosted.org hex.pm packagist.org pypi.org rubygems.org",
  // Go and Rust.
  "crates.io doc.rust-lang.org docs.rs go.dev index.crates.io pkg.go.dev proxy.golang.org static.crates.io sum.golang.org",
  // Java.
  "plugins.gradle.org repo.maven.apache.org repo1.maven.org services.gradle.org",
].flatMap((hosts) => hosts.split(" "));
