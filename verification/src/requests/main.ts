// Sends generated requests: `npm run campaign -- requests`. Exit code 1 when a response is not as documented, or memory grows.
import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { requestsReport } from './report.ts'
import { runRequests } from './run.ts'

const usage = `Usage: npm run campaign -- requests [--requests N] [--seed N] [--connections N] [--replay SEED:INDEX] [--out FILE]
  --requests     how many, default 20000
  --seed         repeats the plan of the requests, default random
  --connections  how many at the same time, default 16
  --replay       sends the first requests of SEED and then the one with this INDEX, and prints its response
  --out          writes all violations as JSON`

const options = readOptions()
if (options === undefined) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}
const print = (line: string) => void process.stdout.write(`${line}\n`)
print(`seed ${options.seed}`)
const startedAt = performance.now()
const stack = new AsyncDisposableStack()
const stop = new AbortController()
// A second signal ends the process at once; its servers end with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
try {
  const result = await runRequests(stack, options, stop.signal, print)
  print(requestsReport(result, performance.now() - startedAt))
  if (options.out !== undefined) await writeFile(options.out, JSON.stringify(result.violations, null, 1))
  process.exitCode = result.violations.length > 0 ? 1 : 0
} finally {
  await stack.disposeAsync()
}

function readOptions() {
  const type = 'string'
  const text = { requests: { type }, seed: { type }, connections: { type }, replay: { type }, out: { type } } as const
  try {
    const { values } = parseArgs({ options: text })
    const [seed = randomInt(1_000_000), replay] = (values.replay ?? values.seed)?.split(':').map(Number) ?? []
    const [requests, connections] = [Number(values.requests ?? 20_000), Number(values.connections ?? 16)]
    const isValid = [seed, replay ?? 0, requests, connections].every((each) => Number.isSafeInteger(each) && each >= 0)
    return isValid && connections > 0 ? { seed, requests, connections, replay, out: values.out } : undefined
  } catch {
    return undefined
  }
}
