// Finds and runs pgbench, and reads its transaction log.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Times } from '../harness/benchmark.ts'
import type { Script } from './sameSql.ts'

const execute = promisify(execFile)
const debianPrograms = '/usr/lib/postgresql'

export type PgbenchRun = {
  readonly databaseUrl: string
  readonly connections: number
  readonly seconds: number
  readonly rate: number | undefined
}

export type Pgbench = (script: Script, run: PgbenchRun) => Promise<Times>

/**
 * Searches the Postgres programs of Debian, then the PATH.
 * @throws Error with installation hints
 */
export async function findPgbench(
  PATH: string | undefined,
): Promise<{ readonly version: string; readonly pgbench: Pgbench }> {
  const versions = await readdir(debianPrograms).catch(() => [])
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a))
  for (const program of [...newestFirst.map((version) => `${debianPrograms}/${version}/bin/pgbench`), 'pgbench']) {
    const found = await execute(program, ['--version'], { env: { PATH } }).catch(() => undefined)
    if (found !== undefined)
      return { version: found.stdout.trim(), pgbench: (script, run) => runPgbench({ program, PATH }, script, run) }
  }
  throw new Error(
    'pgbench was not found: install it with `apt-get install postgresql-contrib` (Debian), `brew install postgresql` (macOS) or put it in the PATH.',
  )
}

type Program = { readonly program: string; readonly PATH: string | undefined }

async function runPgbench({ program, PATH }: Program, script: Script, run: PgbenchRun): Promise<Times> {
  const directory = await mkdtemp(join(tmpdir(), 'paylog-pgbench-'))
  try {
    await writeFile(join(directory, 'script.sql'), script.text)
    const options = [
      ['--no-vacuum', `--protocol=${script.protocol}`, '--random-seed=1', '--log', '--log-prefix=transactions'],
      [`--client=${run.connections}`, '--jobs=2', `--time=${run.seconds}`, '--file=script.sql'],
      Object.entries(script.variables).map(([name, value]) => `--define=${name}=${value}`),
      run.rate === undefined ? [] : [`--rate=${run.rate}`],
    ].flat()
    // Exits with another code than 0 when a statement fails.
    await execute(program, options, { cwd: directory, env: { PATH, ...connectionOf(run.databaseUrl) } })
    const logs = (await readdir(directory)).filter((name) => name.startsWith('transactions'))
    return (await Promise.all(logs.map((name) => readFile(join(directory, name), 'utf8')))).flatMap(timesIn)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Not in the arguments, which every user of the machine can read. */
function connectionOf(databaseUrl: string): NodeJS.ProcessEnv {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl)
  return {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
  }
}

/**
 * `client transaction duration script epoch_seconds microseconds …`; with a rate, the duration is since the scheduled
 * time.
 */
function timesIn(log: string): { ms: number; endedAt: number }[] {
  return log
    .trim()
    .split('\n')
    .map((line) => {
      const [, , duration, , seconds, microseconds] = line.split(' ')
      return { ms: Number(duration) / 1_000, endedAt: Number(seconds) * 1_000 + Number(microseconds) / 1_000 }
    })
}
