// Runs a benchmark: `npm run bench -- NAME`. Benchmarks are programs that print figures, not tests that judge them.
import { latency } from '../apps/local/src/bench/latency.ts'

const say = (text: string) => void process.stdout.write(`${text}\n`)
const benchmarks = new Map([['latency', latency]])

const name = process.argv[2]
const benchmark = benchmarks.get(name ?? '')
if (benchmark === undefined) {
  process.stderr.write(`Usage: npm run bench -- ${[...benchmarks.keys()].join(' | ')}\n`)
  process.exitCode = 2
} else {
  await benchmark(process.env, say)
}
