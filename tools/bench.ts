// Runs a benchmark: `npm run bench -- NAME`. Benchmarks are programs that print figures, not tests that judge them.
import { eventStore } from '../apps/event-store-node/src/bench/eventStore.ts'
import { latency } from '../apps/local/src/bench/latency.ts'
import { webhooks } from '../apps/local/src/bench/webhooks.ts'
import { rebuild } from '../apps/projector/src/bench/rebuild.ts'
import { queries } from '../apps/query-api/src/bench/queries.ts'

const say = (text: string) => void process.stdout.write(`${text}\n`)
const benchmarks = new Map<string, (args: readonly string[]) => Promise<void>>([
  ['latency', () => latency(process.env, say)],
  ['queries', (args) => queries(args, process.env, say)],
  ['event-store', (args) => eventStore(args, say)],
  ['rebuild', (args) => rebuild(args, say)],
  ['webhooks', (args) => webhooks(args, process.env, say)],
])

const [name, ...args] = process.argv.slice(2)
const benchmark = benchmarks.get(name ?? '')
if (benchmark === undefined) {
  process.stderr.write(`Usage: npm run bench -- ${[...benchmarks.keys()].join(' | ')}\n`)
  process.exitCode = 2
} else {
  await benchmark(args).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  })
}
