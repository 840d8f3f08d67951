// `npm run campaign -- power`: power failures under load. Exit code 1 when something was lost, or the control lost nothing.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { canMountDisk } from '@paylog/testing/diskImage'
import { runPowerFailures } from './power.ts'

const usage = `Usage: npm run campaign -- power [--failures N] [--controls N] [--seed N]
  --failures  power failures of the machine with the event store and Postgres, default 200
  --controls  further ones with Postgres's fsync off, until one has lost something, which it has to; default 3
  --seed      decides when they happen, default random; it does not repeat the timing of the processes
Needs Linux and root, because the data is on a disk image that is mounted and copied.`

const options = readOptions()
if (options === undefined || !canMountDisk) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}
const { failures, controls, seed } = options
const print = (line: string) => void process.stdout.write(`${line}\n`)
print(`seed ${seed}`)
const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort())
const startedAt = performance.now()
const real = await run(failures, true)
const control = controls > 0 ? await run(controls, false) : undefined
const rows: readonly (readonly [string, string | number])[] = [
  ['power failures', real.postgresMs.length],
  ['appends acknowledged', real.load.acknowledged.length],
  ['  of them payments', real.load.payments.length],
  ['appends recovered', real.recovered],
  ['events in the log', real.events],
  ['payments that sent webhooks', real.load.notified().size],
  ['until Postgres has recovered, p50 / p99 / max', seconds(real.postgresMs)],
  ['until a payment is accepted, p50 / p99 / max', seconds(real.serviceMs)],
  ['violations', real.violations.length],
  ['failures with fsync off', control?.postgresMs.length ?? 0],
  ['  violations', control?.violations.length ?? 0],
  ['minutes', ((performance.now() - startedAt) / 60_000).toFixed(1)],
]
const width = Math.max(...rows.map(([name]) => name.length))
for (const [name, value] of rows) print(`${name.padEnd(width)}  ${value}`)
for (const violation of real.violations.slice(0, 60)) print(violation)
const isBlind = control?.violations.length === 0
if (isBlind) print('The control has lost nothing, so that this run proves nothing.')
process.exitCode = real.violations.length > 0 || isBlind || interruption.signal.aborted ? 1 : 0

async function run(count: number, isDurable: boolean) {
  await using stack = new AsyncDisposableStack()
  const { isTTY } = process.stdout
  return await runPowerFailures(
    stack,
    { failures: count, isDurable, seed, interruption: interruption.signal },
    (done) => {
      if (isTTY)
        process.stdout.write(`\r${isDurable ? 'failure' : 'control'} ${done} of ${count}${done === count ? '\n' : ''}`)
    },
  )
}

function seconds(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number) => ((sorted[Math.ceil(share * sorted.length) - 1] ?? 0) / 1_000).toFixed(1)
  return `${at(0.5)} / ${at(0.99)} / ${at(1)} s`
}

function readOptions() {
  try {
    const text = { type: 'string' } as const
    const { values } = parseArgs({ options: { failures: text, controls: text, seed: text } })
    const [failures = 0, controls = 0, seed = 0] = [
      values.failures ?? 200,
      values.controls ?? 3,
      values.seed ?? randomInt(1e6),
    ].map(Number)
    const isValid = [failures - 1, controls, seed].every((number) => Number.isSafeInteger(number) && number >= 0)
    return isValid ? { failures, controls, seed } : undefined
  } catch {
    return undefined
  }
}
