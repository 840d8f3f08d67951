// `npm run campaign -- power`: power failures under load. Exit code 1 when something was lost, or the control lost nothing.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { canMountDisk } from '@paylog/testing/diskImage'
import { type PowerRun, runPowerFailures } from './power.ts'

const usage = `Usage: npm run campaign -- power [--failures N] [--controls N] [--seed N]
  --failures  power failures of the machine with the event store and Postgres, default 200
  --controls  further ones with Postgres's fsync off, of which at least one must be noticed, default 3
  --seed      decides when they happen, default random. It does not repeat the timing of the processes`

const options = readOptions()
if (options === undefined) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}
if (!canMountDisk) {
  process.stderr.write('Power failures need Linux and root: the data is on a disk image that is mounted and copied.\n')
  process.exit(2)
}
process.stdout.write(`seed ${options.seed}\n`)
const began = performance.now()
const real = await run(options.failures, true)
const control = options.controls > 0 ? await run(options.controls, false) : undefined
const rows: readonly (readonly [string, string | number])[] = [
  ['power failures', real.failures],
  ['appends acknowledged', real.acknowledged],
  ['  of them payments', real.payments],
  ['appends recovered', real.recovered],
  ['events in the log', real.events],
  ['webhooks received', real.webhooks],
  ['until Postgres has recovered, p50 / p99 / max', seconds(real.postgresMs)],
  ['until a payment is accepted, p50 / p99 / max', seconds(real.serviceMs)],
  ['violations', real.violations.length],
  ...(control
    ? [[`violations in ${control.failures} failures with fsync off`, control.violations.length] as const]
    : []),
  ['minutes', ((performance.now() - began) / 60_000).toFixed(1)],
]
const width = Math.max(...rows.map(([name]) => name.length))
for (const [name, value] of rows) process.stdout.write(`${name.padEnd(width)}  ${value}\n`)
for (const violation of real.violations.slice(0, 60)) process.stdout.write(`${violation}\n`)
if (control?.violations.length === 0) process.stdout.write('The control lost nothing: this run proves nothing.\n')
process.exitCode = real.violations.length > 0 || control?.violations.length === 0 ? 1 : 0

async function run(failures: number, isDurable: boolean): Promise<PowerRun> {
  await using stack = new AsyncDisposableStack()
  const stop = () => void stack.disposeAsync().finally(() => process.exit(1))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  stack.defer(() => void process.off('SIGINT', stop).off('SIGTERM', stop))
  return await runPowerFailures(stack, { failures, isDurable, seed: options?.seed ?? 0 }, (done) => {
    if (process.stdout.isTTY) process.stdout.write(`\r${isDurable ? 'failure' : 'control'} ${done} of ${failures} `)
    if (process.stdout.isTTY && done === failures) process.stdout.write('\n')
  })
}

function seconds(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number) => ((sorted[Math.ceil(share * sorted.length) - 1] ?? 0) / 1_000).toFixed(1)
  return `${at(0.5)} / ${at(0.99)} / ${at(1)} s`
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { failures: { type: 'string' }, controls: { type: 'string' }, seed: { type: 'string' } },
    })
    const failures = Number(values.failures ?? 200)
    const controls = Number(values.controls ?? 3)
    const seed = Number(values.seed ?? randomInt(1_000_000))
    const isValid = [failures, controls, seed].every((number) => Number.isSafeInteger(number) && number >= 0)
    return isValid && failures > 0 ? { failures, controls, seed } : undefined
  } catch {
    return undefined
  }
}
