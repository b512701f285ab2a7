import { cautioned, denied } from "../finding.ts";
import { TAINT } from "../shell/invocation.ts";
import { hasOption, readOptions } from "../shell/options.ts";
import { targetPaths } from "../shell/targets.ts";
import { forNames, type Check, type CheckTable } from "./check.ts";

/** What concerns the machine as a whole: rights, disks, processes, accounts, boot. */

const privilege: Check = ({ name }) => denied("privilege", `${name} asks for more rights`);
const disk: Check = ({ name }) => denied("disk-write", `${name} works on a disk as a whole`);
const damage: Check = ({ name }) => denied("system-damage", `${name} changes the system for everyone`);
const power: Check = ({ name }) => denied("kill-everything", `${name} stops the machine`);

/** Only looking is fine: `crontab -l`, `mount`, `sysctl -a`. */
function unless(looks: (words: readonly string[]) => boolean, check: Check): Check {
  return (invocation, places) =>
    looks(invocation.argv.slice(1).map(({ text }) => text)) ? undefined : check(invocation, places);
}

const kill: Check = ({ argv, feed, inner }) => {
  if (((feed | inner) & TAINT.processes) !== 0)
    return denied("kill-everything", "sends a signal to every process in a list of all");
  const words = argv.slice(1).map(({ text }) => text);
  if (words.some((word) => /^(?:-l|-L|--list|--table)$/.test(word))) return undefined;
  // The first word with a dash is the signal, unless `-s` or `-n` named one; after it come process numbers.
  const named = words.findIndex((word) => /^-(?:s|n)$|^--signal$/.test(word));
  const signal = named === -1 ? words.findIndex((word) => /^-\w/.test(word)) : named + 1;
  const targets = new Set(
    words.filter((word, index) => index !== signal && index !== named && word !== "--"),
  );
  if (targets.has("-1")) return denied("kill-everything", "sends a signal to every process");
  if (targets.has("1"))
    return denied("kill-everything", "sends a signal to the first process of the machine");
  return undefined;
};

const killByName: Check = ({ name, argv }) => {
  const options = readOptions(argv.slice(1), {
    short: name === "pkill" ? "gGPsStuUF" : "osuty",
    long: ["--signal", "--user", "--older", "--newer"],
  });
  const broad = options.operands.some(({ text }) =>
    /^(?:.?\*?|[^\w]*|\.\+|\^|\$|\[.*|.*\|.*|systemd|init|launchd|sshd|-1)$/.test(text),
  );
  if (
    broad ||
    (options.operands.length === 0 &&
      (hasOption(options, "u", "U", "G", "--user", "v", "--inverse") || name === "killall5"))
  ) {
    return denied("kill-everything", "ends processes without telling them apart");
  }
  return hasOption(options, "v", "--inverse")
    ? denied("kill-everything", "ends every process but some")
    : undefined;
};

const systemctl: Check = ({ argv }) => {
  const [verb = "", unit = ""] = readOptions(argv.slice(1), { short: "tHM" }).operands.map(
    ({ text }) => text,
  );
  if (
    /^(?:poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue|exit)$/.test(verb) ||
    /^(?:reboot|poweroff|halt|shutdown|rescue|emergency)\.target$/.test(unit)
  ) {
    return denied("kill-everything", `systemctl ${verb} stops the machine`);
  }
  if (
    /^(?:enable|reenable|link|preset|preset-all|edit|set-default|add-wants|add-requires|import-environment|set-environment|daemon-reload)$/.test(
      verb,
    )
  ) {
    return denied("persistence", `systemctl ${verb} makes something run later`);
  }
  if (/^(?:mask|disable|isolate)$/.test(verb))
    return denied("system-damage", `systemctl ${verb} switches a service off`);
  return undefined;
};

const launchctl: Check = ({ argv }) => {
  const verb = argv[1]?.text ?? "";
  return /^(?:load|bootstrap|submit|enable|kickstart|setenv|asuser)$/.test(verb)
    ? denied("persistence", `launchctl ${verb} makes something run later`)
    : undefined;
};

/** `fuser -k 3000/tcp` frees a port; a folder or a disk stands for everyone who uses it. */
const fuser: Check = (invocation, places) => {
  const options = readOptions(invocation.argv.slice(1), { short: "n", long: ["--namespace"] });
  const broad =
    hasOption(options, "m", "M", "c", "--mount") ||
    options.operands.some((operand) =>
      targetPaths(operand, invocation, places).some((path) => places.isPrecious(path)),
    );
  return hasOption(options, "k", "--kill") && broad
    ? denied("kill-everything", "ends everything that uses a disk or a folder of the system")
    : undefined;
};

const loginctl: Check = ({ argv }) => {
  const verb = argv[1]?.text ?? "";
  if (/^(?:terminate|kill)-|^(?:poweroff|reboot|halt|suspend|hibernate)$/.test(verb))
    return denied("kill-everything", `loginctl ${verb} ends what people are doing`);
  return verb === "enable-linger" ? denied("persistence", "keeps running after log-out") : undefined;
};

const bus: Check = ({ argv }) =>
  argv.some(({ text }) => /(?:^|\.)(?:PowerOff|Reboot|Halt|Suspend|Hibernate|KExec)$/i.test(text))
    ? denied("kill-everything", "stops the machine")
    : undefined;

/** `systemd-run --on-calendar=daily`: a timer. */
const timer: Check = ({ argv }) =>
  argv.some(({ text }) => /^--(?:on-|timer-property|path-property|socket-property)/.test(text))
    ? denied("persistence", "systemd-run with a timer makes something run later")
    : undefined;

const interfaces: Check = ({ name, argv }) =>
  argv.slice(1).some(({ text }) => /^(?:set|add|del|delete|flush|replace|change|up|down|off)$/.test(text))
    ? denied("system-damage", `${name} changes the machine's network`)
    : undefined;

/** Programs that open a shell or a port of this machine to others. */
const shares: Check = ({ name }) => denied("reverse-shell", `${name} lets others in`);

const tunnel: Check = ({ name, argv }) =>
  name !== "ssh" || argv.some(({ text }) => /^-[1246AaCfGgKkMNnqsTtVvXxYy]*R/.test(text))
    ? cautioned("raw-network", "opens a port of this machine to others")
    : undefined;

/** Reading a disk is one thing; these get it as a target. */
const image: Check = ({ argv }) =>
  argv.slice(1).some(({ text }) => /^\/dev\/(?!null$|zero$|shm\/)/.test(text))
    ? denied("disk-write", "works on a disk as a whole")
    : undefined;

/** A program that runs with its owner's rights, whoever starts it. */
const setId: Check = ({ argv }) =>
  argv.slice(1).some(({ text }) => /^[0-7]?[4-7][0-7]{3}$/.test(text) || /^[ugoa]*\+[rwxXt]*s/.test(text))
    ? cautioned("privilege", "makes a program run with its owner's rights")
    : undefined;

const openssl: Check = ({ argv }) =>
  argv[1]?.text === "s_client" || argv[1]?.text === "s_server"
    ? cautioned("raw-network", "a raw connection")
    : undefined;

const history: Check = ({ argv }) =>
  argv.slice(1).some(({ text }) => /^-[cdw]/.test(text))
    ? cautioned("hides-traces", "changes the shell's history")
    : undefined;

const registry: Check = ({ argv }) => {
  const words = argv.map(({ text }) => text);
  if (words[1]?.toLowerCase() === "query") return undefined;
  return words.some((word) => /currentversion.*run|winlogon|\\services/i.test(word))
    ? denied("persistence", "a registry key that runs something later")
    : cautioned("registry", "changes the registry");
};

const later: Check = ({ name }) => denied("persistence", `${name} makes something run later`);

export const MACHINE: CheckTable = {
  ...forNames(
    "sudo sudoedit su doas pkexec gksudo gksu kdesudo run0 runuser gosu su-exec setpriv visudo vipw vigr machinectl runas gsudo calife super dzdo please osudo capsh newgrp sg login",
    privilege,
  ),
  ...forNames(
    "mkfs mke2fs mkswap mkntfs mkdosfs newfs newfs_hfs wipefs fdisk sfdisk cfdisk gdisk sgdisk parted partprobe blkdiscard hdparm sdparm badblocks cryptsetup pvcreate pvremove vgremove vgcreate lvremove lvcreate mdadm zpool zfs e2label tune2fs resize2fs debugfs fsck xfs_repair ntfsresize mformat dmsetup sg_format scsi_format asr nwipe dc3dd ddrescue flashrom format-volume clear-disk diskpart mkfs.ext4 mkfs.ext3 mkfs.ext2 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.exfat mkfs.f2fs",
    disk,
  ),
  diskutil: unless(([verb = ""]) => /^(?:list|info|activity)$/.test(verb), disk),
  nvme: unless(([verb = ""]) => /^(?:list|id-ctrl|smart-log)$/.test(verb), disk),
  ...forNames(
    "useradd userdel usermod adduser deluser groupadd groupdel groupmod passwd chpasswd chsh chfn gpasswd insmod rmmod modprobe kexec chroot pivot_root nsenter losetup swapoff swapon setenforce auditctl aa-disable aa-teardown update-grub grub-install grub-mkconfig efibootmgr dpkg-divert update-initramfs chattr setcap bcdedit vssadmin nvram csrutil spctl kextload kmutil dscl sysadminctl",
    damage,
  ),
  ...forNames(
    "iptables ip6tables ebtables",
    unless((words) => words.some((word) => /^-[LS]|^--list/.test(word)), damage),
  ),
  nft: unless(([verb]) => verb === "list", damage),
  ufw: unless(([verb]) => verb === "status", damage),
  "firewall-cmd": unless((words) => words.every((word) => /^--(?:list|get|state|query)/.test(word)), damage),
  sysctl: unless(
    (words) =>
      !words.some(
        (word) => word.startsWith("-w") || word.includes("=") || word.startsWith("-p") || word === "--system",
      ),
    damage,
  ),
  mount: unless((words) => words.length === 0 || words[0] === "-l", damage),
  umount: damage,
  hostnamectl: unless(([verb]) => verb === undefined || verb === "status", damage),
  timedatectl: unless(([verb]) => verb === undefined || verb === "status", damage),
  ...forNames("shutdown reboot halt poweroff killall5 telinit stop-computer restart-computer", power),
  init: unless(([level = ""]) => !/^[0-6sSqQ]$/.test(level), power),
  kill: kill,
  ...forNames("pkill killall skill slay taskkill", killByName),
  systemctl,
  launchctl,
  loginctl,
  fuser,
  ...forNames("dbus-send busctl gdbus", bus),
  "systemd-run": timer,
  pm2: unless(([verb]) => verb !== "startup", later),
  ...forNames("ip ifconfig nmcli networksetup", interfaces),
  ...forNames("tc rfkill", damage),
  ...forNames("sshd dropbear tmate ttyd gotty ztcp", shares),
  ...forNames("ssh autossh ngrok cloudflared localtunnel lt bore", tunnel),
  "qemu-img": image,
  btrfs: unless(
    (words) => !words.some((word) => /^(?:del|delete|replace|balance|rescue|remove)$/.test(word)),
    disk,
  ),
  ...forNames("chmod gchmod", setId),
  mshta: ({ name }) => denied("download-to-shell", `${name} runs what it downloads`),
  ...forNames(
    "at batch fcrontab atd anacron schtasks register-scheduledtask new-service chkconfig update-rc.d rc-update",
    later,
  ),
  crontab: unless((words) => words.length === 1 && words[0] === "-l", later),
  history,
  openssl,
  reg: registry,
};

/** Names with endings: `mkfs.xfs`, `fsck.ext4`. */
export function machineName(name: string): string {
  return /^(?:mkfs|fsck|newfs)[._]/.test(name) ? "mkfs" : name;
}
