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

let running: ChildProcess | undefined
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
    const jobs = args.includes('--full') ? fullJobs : quickJobs
    const options = [`--jobs=${jobs}`, `--timeout=${fileTimeoutSeconds}`, '--reporter=tap']
    const read = (line: string) => {
      report.add(line)
      contract.add(line)
    }
    const code = interrupted ? 1 : await run(['run', ...options, ...selected(args)], servers.env, read)
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

/** @returns the arguments with the files of the lane, unless they name files themselves */
function selected(args: readonly string[]): string[] {
  const options = args.filter((arg) => arg !== '--full')
  if (options.some((arg) => arg.endsWith('.test.ts'))) return options
  const isFull = options.length < args.length
  const files = globSync('{verification,apps,packages,projections,bench,deploy,tools}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.endsWith('node_modules'),
  })
  const lane = files.filter((file) => file.endsWith('.full.test.ts') === isFull).sort()
  // The campaigns take longest, so they start first.
  const isCampaign = (file: string) => file.startsWith('verification')
  return [...options, ...lane.filter(isCampaign), ...lane.filter((file) => !isCampaign(file))]
}

async function run(args: string[], env: Record<string, string>, read: (line: string) => void): Promise<number> {
  const NODE_OPTIONS = [process.env.NODE_OPTIONS, env.TEST_BUNDLED_LIBRARIES].join(' ')
  const child = spawn(process.execPath, [tapProgram, ...args], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  running = child
  if (interrupted) signalTests('SIGTERM')
  for await (const line of createInterface({ input: child.stdout })) read(line)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  running = undefined
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
  if (running?.pid === undefined) return
  try {
    process.kill(-running.pid, signal)
  } catch {
    // The group has just ended.
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
