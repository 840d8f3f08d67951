// Completes package-lock.json (`npm run lock`, after every change of dependencies): a registry without the packages of
// other platforms makes npm omit them, and `npm ci` then rejects the lock file.
import { readFile, writeFile } from 'node:fs/promises'

type LockedPackage = {
  readonly version?: string
  readonly optional?: boolean
  readonly dev?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
export type LockFile = { readonly packages: Readonly<Record<string, LockedPackage>> }

const lockFile = new URL('../package-lock.json', import.meta.url)

/** Optional packages that another package requires by exact version and that the lock file does not list. */
export function missingOptionals({ packages }: LockFile): Map<string, LockedPackage> {
  const missing = new Map<string, LockedPackage>()
  for (const { optionalDependencies = {}, dev } of Object.values(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const isListed = Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`))
      if (isListed || !/^\d+\.\d+\.\d+/.test(version)) continue
      missing.set(`node_modules/${name}`, { version, ...(dev ? { dev } : {}), optional: true, ...platformOf(name) })
    }
  }
  return missing
}

/** The platform, derived from the package name, so that other machines skip the package. */
function platformOf(name: string): { os?: string[]; cpu?: string[]; libc?: string[] } {
  const os = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'].find((each) => name.includes(each))
  const cpu = ['arm64', 'x64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32'].find((each) =>
    name.includes(`-${each}`),
  )
  return {
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(os === undefined ? {} : { os: [os] }),
    ...(name.includes('musl') ? { libc: ['musl'] } : {}),
  }
}

export async function readLockFile(): Promise<LockFile> {
  return JSON.parse(await readFile(lockFile, 'utf8'))
}

/** Adds the missing packages at the place where npm would put them. */
async function completeLockFile(): Promise<number> {
  const lock = await readLockFile()
  const missing = missingOptionals(lock)
  const packages = Object.entries({ ...lock.packages, ...Object.fromEntries(missing) })
  packages.sort(([a], [b]) => a.localeCompare(b, 'en'))
  await writeFile(lockFile, `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, undefined, 2)}\n`)
  return missing.size
}

if (import.meta.main) process.stdout.write(`${await completeLockFile()} packages of other platforms added\n`)
