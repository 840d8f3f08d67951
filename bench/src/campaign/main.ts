// `npm run campaign`: breaks a running system by a seed and judges it from outside. Exit code 1 when the judge found a violation.
import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type CampaignProgress, runCampaign } from './campaign.ts'
import { type FaultKind, faultKinds } from './faults/kinds.ts'
import { campaignReport, observationsJson } from './report.ts'

const usage = `Usage: npm run campaign -- [OPTIONS]
       npm run campaign -- planted|histories|power|requests [OPTIONS]      the other parts; each has its own --help
  --minutes N            how long faults are injected, default 10
  --seed N               decides about the faults and the load, default random
  --replay SEED[:ROUND]  repeats the faults of a seed, or one round of them
  --kinds KIND,…         the kinds of faults, default all: ${faultKinds.join(', ')}
  --load N               new payments a second, default 5
  --limit N              seconds in which the system has to recover from faults, default 30
  --without PART,…       the edge, redis or both are not there, as where they are not installed
  --out FILE             writes everything that the judge saw, as JSON
  --logs DIRECTORY       for the logs of all processes; default: they are deleted
  --next DIRECTORY       another checkout of this repository, for the rolling upgrades; default: the same build
  --event-store COMMAND  starts another event store than the embedded one, on {port} with its data in {directory}`

const options = readOptions()
if (options === undefined) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}
const progress = createProgress()
progress.print(`seed ${options.seed}`)
const began = performance.now()
const stack = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
try {
  const result = await runCampaign(stack, options, progress)
  progress.print(campaignReport(result, performance.now() - began))
  if (options.out !== undefined) await writeFile(options.out, observationsJson(result))
  process.exitCode = result.violations.length > 0 ? 1 : 0
} finally {
  await stack.disposeAsync()
}

function readOptions() {
  try {
    const text = { type: 'string' } as const
    const texts = {
      minutes: text,
      seed: text,
      replay: text,
      kinds: text,
      load: text,
      limit: text,
      out: text,
      logs: text,
    }
    const { values } = parseArgs({ options: { ...texts, without: text, next: text, 'event-store': text } })
    const { out, logs, next: nextRoot, 'event-store': eventStore } = values
    const [seed = randomInt(1_000_000), round] = (values.replay ?? values.seed)?.split(':').map(Number) ?? []
    const [minutes, load] = [Number(values.minutes ?? 10), Number(values.load ?? 5)]
    const limitMs = Number(values.limit ?? 30) * 1_000
    const without = values.without?.split(',') ?? []
    const kinds = (values.kinds?.split(',') ?? faultKinds) as readonly FaultKind[]
    const isValid =
      [seed, round ?? 0].every(Number.isSafeInteger) &&
      [minutes, load, limitMs].every((number) => number > 0) &&
      without.every((part) => ['edge', 'redis'].includes(part)) &&
      kinds.every((kind) => faultKinds.includes(kind))
    return isValid
      ? { seed, round, minutes, load, limitMs, kinds, without, out, logs, nextRoot, eventStore }
      : undefined
  } catch {
    return undefined
  }
}

/** On a terminal, one line shows what happens now. */
function createProgress(): CampaignProgress {
  const { stdout } = process
  const clear = stdout.isTTY ? '\r\x1b[K' : ''
  return {
    print: (line) => void stdout.write(`${clear}${line}\n`),
    now(text) {
      if (stdout.isTTY) stdout.write(`${clear}${text.slice(0, stdout.columns - 1)}`)
    },
  }
}
