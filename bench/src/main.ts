// Runs benchmarks: `npm run bench`, or `npm run bench -- NAME`. Missed targets do not fail the run.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { auditLog } from './audit-log/auditLog.ts'
import { commands } from './commands/commands.ts'
import { latency } from './commands/latency.ts'
import { eventStore } from './event-store/eventStore.ts'
import type { Benchmark } from './harness/benchmark.ts'
import { type BenchmarkReport, benchTable } from './harness/benchTable.ts'
import { idle } from './idle/idle.ts'
import { rebuild } from './projections/rebuild.ts'
import { adminPayments } from './queries/adminPayments.ts'
import { queries } from './queries/queries.ts'
import { sealing } from './sealing/sealing.ts'
import { webhooks } from './webhooks/webhooks.ts'

const benchmarks = new Map<string, Benchmark>([
  ['commands', commands],
  ['latency', latency],
  ['idle', idle],
  ['event-store', eventStore],
  ['queries', queries],
  ['admin-payments', adminPayments],
  ['rebuild', rebuild],
  ['sealing', sealing],
  ['audit-log', auditLog],
  ['webhooks', webhooks],
])
/** The slowest one, queries, takes half of it. */
const benchmarkTimeoutMs = 45 * 60_000

const usage = `Usage: npm run bench -- [${[...benchmarks.keys()].join(' | ')}] [--quick] [--json] [options of the benchmark]
Without a name all of them run, one after another, for about 40 minutes. --quick: some minutes, only to check that the benchmarks work.`

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())

const [name, options] = nameAndOptions(process.argv.slice(2))
const args = options.filter((option) => option !== '--quick' && option !== '--json')
const benchmark = benchmarks.get(name)
if (name === '' && args.length === 0) {
  const reports: BenchmarkReport[] = []
  for (const each of benchmarks.keys()) if (!interrupted.signal.aborted) reports.push(await inChildProcess(each))
  print(reports)
} else if (benchmark === undefined) {
  process.stderr.write(`${usage}\n`)
  process.exitCode = 2
} else {
  const report = await run(name, benchmark)
  if (process.send !== undefined) process.send(report)
  else if ('rows' in report) print([report])
  else process.exitCode = 1
}

function nameAndOptions(all: readonly string[]): [string, readonly string[]] {
  const [first = '', ...others] = all
  return first.startsWith('-') ? ['', all] : [first, others]
}

/** In separate processes, so that no benchmark affects the memory or the time limit of the next. */
async function inChildProcess(benchmarkName: string): Promise<BenchmarkReport> {
  process.stderr.write(`\n${benchmarkName}\n`)
  const child = fork(fileURLToPath(import.meta.url), [benchmarkName, ...options], { timeout: benchmarkTimeoutMs })
  const interrupt = () => child.kill('SIGTERM')
  interrupted.signal.addEventListener('abort', interrupt)
  let report: BenchmarkReport = { name: benchmarkName, loadBefore: load(), failure: 'It exited without a result' }
  child.on('message', (message: BenchmarkReport) => {
    report = message
    child.disconnect()
  })
  await once(child, 'exit')
  interrupted.signal.removeEventListener('abort', interrupt)
  return report
}

async function run(benchmarkName: string, measure: Benchmark): Promise<BenchmarkReport> {
  const loadBefore = load()
  const stack = new AsyncDisposableStack()
  const print = (text: string) => {
    if (!options.includes('--json')) process.stdout.write(`${text}\n`)
  }
  const onInterrupt = () => void stack.disposeAsync().finally(() => process.exit(1))
  interrupted.signal.addEventListener('abort', onInterrupt)
  try {
    const findings = await measure({
      args,
      isQuick: options.includes('--quick'),
      env: process.env,
      print,
      stack,
    })
    return { name: benchmarkName, loadBefore, ...findings }
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${failure}\n`)
    return { name: benchmarkName, loadBefore, failure }
  } finally {
    interrupted.signal.removeEventListener('abort', onInterrupt)
    await stack.disposeAsync()
  }
}

/** Load average of the last minute. */
function load(): number {
  return loadavg()[0] ?? Number.NaN
}

function print(reports: readonly BenchmarkReport[]): void {
  const now = new Date()
  const text = options.includes('--json') ? JSON.stringify({ now, reports }, undefined, 2) : benchTable(reports, now)
  process.stdout.write(`\n${text}\n`)
  if (reports.some((report) => 'failure' in report)) process.exitCode = 1
}
