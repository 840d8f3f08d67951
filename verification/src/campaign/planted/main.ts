// Plants faults into the product and shows which rule of the judge reports each: `npm run campaign -- planted`. Exit code 1 when
// one is not reported by a rule that is expected to.
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { plants } from './plants.ts'
import { type PlantsTried, tryPlants } from './tryPlants.ts'

const usage = `Usage: npm run campaign -- planted [--only NAME]... [--together] [--seed N] [--seconds N]
  --only      a planted fault; default all:
${plants.map(({ name }) => `                ${name}`).join('\n')}
  --together  all in one system instead of one after the other
  --seed      repeats the plan of the load, default random
  --seconds   how long a fault may stay unreported, default 90`

const options = readOptions()
if (options === undefined) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}
const compiled = await mkdtemp(join(tmpdir(), 'paylog-planted-'))
let stack = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
const print = (...columns: readonly string[]) =>
  void process.stdout.write(`${columns.map((column, index) => column.padEnd([46, 34][index] ?? 0)).join('')}\n`)
const { chosen, together } = options
print(`seed ${options.seed}`)
print('planted fault', 'reported by', 'after')
let missed = 0
for (const group of together ? [chosen] : chosen.map((plant) => [plant])) {
  stack = new AsyncDisposableStack()
  const tried = await tryPlants(stack, group, {
    ...options,
    // The apps of the next system start faster.
    env: { NODE_COMPILE_CACHE: compiled },
  })
    .catch((error: unknown) => String(error))
    .finally(() => stack.disposeAsync())
  for (const { name } of group) {
    const report = typeof tried === 'string' ? undefined : tried.reports.get(name)
    if (report === undefined) missed++
    if (report === undefined) print(name, insteadOf(tried))
    else print(name, report.rule, `${(report.afterMs / 1_000).toFixed(1)} s`)
  }
}
await rm(compiled, { recursive: true })
print(`${chosen.length} planted, ${missed} not reported`)
process.exitCode = missed > 0 ? 1 : 0

function insteadOf(tried: PlantsTried | string): string {
  if (typeof tried === 'string') return `nothing: ${tried}`
  const rules = [...new Set(tried.violations.map(({ rule }) => rule))]
  return ['nothing', ...(rules.length > 0 ? [`but there is ${rules.join(', ')}`] : [])].join(', ')
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true },
        together: { type: 'boolean', default: false },
        seed: { type: 'string' },
        seconds: { type: 'string' },
      },
    })
    const chosen = plants.filter(({ name }) => values.only?.includes(name) ?? true)
    const [seed, seconds] = [Number(values.seed ?? randomInt(1_000_000)), Number(values.seconds ?? 90)]
    const isValid = chosen.length === (values.only ?? plants).length && Number.isSafeInteger(seed) && seconds > 0
    return isValid ? { chosen, together: values.together, seed, seconds } : undefined
  } catch {
    return undefined
  }
}
