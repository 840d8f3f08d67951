// Runs tests with the servers they need: Postgres, and Redis if it is installed.
// `npm test` runs the quick lane, `npm run test:full` the files named *.full.test.ts, `npm test -- FILE ...` any files.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createContractRun, idsInSource } from './contract.ts'
import { createTestReport } from './testReport.ts'
import { startServers } from './testServers.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const tapProgram = join(root, 'node_modules', 'tap', 'dist', 'esm', 'run.mjs')
// For two cores: each file is a process that mostly waits for others. Many files of the full lane use all cores alone.
const quickJobs = 4
const fullJobs = 3
// A limit for files that hang. The slowest take a minute on two idle cores, and machines are at times several times slower.
const fileTimeoutSeconds = 300
const slowestShown = 10
const interruptedTimeoutMs = 5_000

const running = new Set<ChildProcess>()
let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  print(error instanceof Error ? (error.stack ?? error.message) : String(error))
  print('0 passed, 1 failed')
  return 1
})

async function main(args: string[]): Promise<number> {
  const startedAt = performance.now()
  const contract = createContractRun((file) => idsInSource(readFileSync(join(root, file), 'utf8')))
  const servers = await startServers(print)
  try {
    const report = createTestReport(print)
    const start = ({ jobs, firstJob = 0, args }: Run) => {
      const add = report.run()
      const words = ['run', `--jobs=${jobs}`, `--timeout=${fileTimeoutSeconds}`, '--reporter=tap', ...args]
      return run(words, { ...servers.env, TEST_FIRST_JOB: String(firstJob) }, (line) => {
        add(line)
        contract.add(line)
      })
    }
    const codes = interrupted ? [1] : await Promise.all(runsOf(args).map(start))
    const code = Math.max(...codes)
    const { passed, failed: failedTests } = report.totals()
    // An interrupted run is incomplete, so missing ids are not reported.
    const { missing, untested } = interrupted ? { missing: [], untested: [] } : contract.verdict()
    const failed = failedTests + missing.length
    // No assertion reports a runner that failed, was interrupted or ran nothing.
    const isFailure = failed > 0 || code !== 0 || interrupted || passed === 0
    await servers.stop()
    if (servers.skipped !== undefined) print(servers.skipped)
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    print(`Took ${seconds} s. Slowest: ${report.slowest(slowestShown).join(', ')}`)
    for (const comment of report.notTested()) print(`!!! ${comment}`)
    for (const each of untested) print(`!!! NOT TESTED HERE, docs/contract.md: ${each}`)
    for (const each of missing) print(`!!! NOT TESTED, docs/contract.md: ${each}`)
    print(`${passed} passed, ${failed === 0 && isFailure ? 1 : failed} failed`)
    return isFailure ? 1 : 0
  } finally {
    await servers.stop()
  }
}

/** A run of tap. Its jobs have the numbers from `firstJob` on. */
type Run = { readonly jobs: number; readonly firstJob?: number; readonly args: readonly string[] }

/** @returns runs of the files of the lane, beside each other, or one of the files that the arguments name */
function runsOf(args: readonly string[]): readonly Run[] {
  const options = args.filter((arg) => arg !== '--full')
  if (options.some((arg) => arg.endsWith('.test.ts'))) return [{ jobs: quickJobs, args: options }]
  const isFull = options.length < args.length
  const files = globSync('{verification,apps,packages,projections,bench,deploy,tools}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.endsWith('node_modules'),
  })
  const lane = files.filter((file) => file.endsWith('.full.test.ts') === isFull)
  if (!isFull) return [{ jobs: quickJobs, args: [...options, ...lane] }]
  // The campaigns take longest. tap sorts files by name: in one run they would come last, and the other jobs would have nothing left.
  const isCampaign = (file: string) => file.startsWith('verification')
  return [
    { jobs: fullJobs - 1, args: [...options, ...lane.filter((file) => !isCampaign(file))] },
    { jobs: 1, firstJob: fullJobs - 1, args: [...options, ...lane.filter(isCampaign)] },
  ]
}

async function run(args: string[], env: Record<string, string>, read: (line: string) => void): Promise<number> {
  const NODE_OPTIONS = [process.env.NODE_OPTIONS, env.TEST_BUNDLED_LIBRARIES].join(' ')
  const child = spawn(process.execPath, [tapProgram, ...args], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  running.add(child)
  if (interrupted) signalTests('SIGTERM')
  for await (const line of createInterface({ input: child.stdout })) read(line)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  running.delete(child)
  return child.exitCode ?? 1
}

// The tests and their child processes are one process group, so a signal ends all of them before the servers stop, even
// if the runner ignores it.
function interrupt(): void {
  const isRepeated = interrupted
  interrupted = true
  signalTests(isRepeated ? 'SIGKILL' : 'SIGTERM')
  setTimeout(() => signalTests('SIGKILL'), interruptedTimeoutMs).unref()
}

function signalTests(signal: NodeJS.Signals): void {
  for (const { pid } of running)
    try {
      if (pid !== undefined) process.kill(-pid, signal)
    } catch {
      // The group has just ended.
    }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
