// Runs a campaign of kills: `npm run campaign -- --kills N --seed N --minutes N`. Exit code 1 when the judge found a violation.
import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { runCampaign } from './campaign.ts'
import { campaignReport, observationsJson } from './report.ts'

const usage = `Usage: npm run campaign -- [--kills N] [--seed N] [--minutes N] [--out FILE]
  --kills    SIGKILLs of random processes, default 200
  --seed     repeats the order of the kills and the plan of the load, default random
  --minutes  stop killing after this time, default 30
  --out      writes everything that the judge saw, as JSON`

const options = readOptions()
if (options === undefined) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}
const print = (line: string) => void process.stdout.write(`${line}\n`)
print(`seed ${options.seed}`)
const began = performance.now()
const stack = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
try {
  const result = await runCampaign(stack, options, print)
  print(campaignReport(result, performance.now() - began))
  if (options.out !== undefined) await writeFile(options.out, observationsJson(result))
  process.exitCode = result.violations.length > 0 ? 1 : 0
} finally {
  await stack.disposeAsync()
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        kills: { type: 'string' },
        seed: { type: 'string' },
        minutes: { type: 'string' },
        out: { type: 'string' },
      },
    })
    const [kills, seed, minutes] = [
      Number(values.kills ?? 200),
      Number(values.seed ?? randomInt(1_000_000)),
      Number(values.minutes ?? 30),
    ]
    const isValid = Number.isSafeInteger(kills) && kills >= 0 && Number.isSafeInteger(seed) && minutes > 0
    return isValid ? { kills, seed, minutes, out: values.out } : undefined
  } catch {
    return undefined
  }
}
