// `npm run campaign`: breaks a running system by a seed and judges it from outside. Exit code 1 when the judge found a violation.
import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type CampaignProgress, runCampaign } from './campaign.ts'
import { type FaultKind, faultKinds } from './faults/kinds.ts'
import { campaignReport, observationsJson } from './report.ts'

const usage = `Usage: npm run campaign -- [--minutes N] [--seed N] [--kinds KIND,…] [--load N] [--out FILE] [--logs DIRECTORY]
           [--next DIRECTORY] [--event-store COMMAND]
       npm run campaign -- --replay SEED[:ROUND] […]
  --minutes  how long faults are injected, default 10
  --seed     decides about the faults and the load, default random
  --replay   repeats the faults of a seed, or one round of them
  --kinds    the kinds of faults, default all: ${faultKinds.join(', ')}
  --load     new payments a second, default 5
  --out      writes everything that the judge saw, as JSON
  --logs     a directory for the logs of all processes; default: they are deleted
  --event-store  a command that starts another event store on {port} with its data in {directory}
  --next     another checkout of this repository, for the rolling upgrades; default: the same build`

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
    const { values } = parseArgs({
      options: {
        minutes: text,
        seed: text,
        replay: text,
        kinds: text,
        load: text,
        out: text,
        logs: text,
        next: text,
        'event-store': text,
      },
    })
    const [replayed, round] = values.replay?.split(':') ?? []
    const seed = Number(replayed ?? values.seed ?? randomInt(1_000_000))
    const minutes = Number(values.minutes ?? 10)
    const load = Number(values.load ?? 5)
    const kinds = (values.kinds?.split(',') ?? faultKinds) as readonly FaultKind[]
    const number = round === undefined ? undefined : Number(round)
    const isValid =
      Number.isSafeInteger(seed) &&
      minutes > 0 &&
      load > 0 &&
      kinds.every((kind) => faultKinds.includes(kind)) &&
      (number === undefined || Number.isSafeInteger(number))
    const { out, logs, next: nextRoot, 'event-store': eventStore } = values
    return isValid ? { seed, minutes, kinds, load, round: number, out, logs, nextRoot, eventStore } : undefined
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
