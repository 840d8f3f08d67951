// `npm run campaign`: breaks a running system by a seed and judges it from outside. Exit code 1 when the judge found a violation.
import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { parseConnectionString } from '@paylog/event-store/connection/connectionString'
import { type CampaignProgress, runCampaign } from './campaign.ts'
import { type FaultKind, faultKinds, usualKinds } from './faults/kinds.ts'
import { leastNodes } from './faults/nodeKinds.ts'
import { campaignReport, observationsJson } from './report.ts'

const usage = `Usage: npm run campaign -- [OPTIONS]
       npm run campaign -- planted|histories|power|requests [OPTIONS]      the other parts; each has its own --help
  --minutes N            how long faults are injected, default 10
  --faults N             ends after so many faults; with --minutes, at whichever limit comes first
  --seed N               decides about the faults and the load, default random
  --replay SEED[:ROUND]  repeats the faults of a seed, or one round of them
  --kinds KIND,…         the kinds of faults, default all: ${usualKinds.join(', ')};
                         for a cluster also ${faultKinds.filter((kind) => !usualKinds.includes(kind)).join(', ')}
  --load N               new payments a second, default 5
  --limit N              seconds in which the system has to recover from faults, default 30
  --slow N               seconds that a 503 may take while nodes of the event store fail, default 5.5: 5 are promised, and half a
                         second is for a busy machine
  --without PART,…       the edge, redis or both are not there, as where they are not installed
  --out FILE             writes everything that the judge saw, as JSON
  --logs DIRECTORY       for the logs of all processes; default: they are deleted
  --next DIRECTORY       another checkout of this repository, for the rolling upgrades; default: the same build
  --event-store URL      another event store than the embedded one: its connection string, with one host or a cluster's
  --node COMMAND         starts a node of it, once for each host, in their order; {directory} is replaced by one for its data.
                         A script must end with exec, so that it becomes the node
  --strict               a write that is accepted later than 2 s after an election is a violation`

const options = readOptions()
if (typeof options === 'string') {
  process.stderr.write(`${options}\n`)
  process.exit(2)
}
const progress = createProgress()
progress.print(`seed ${options.seed}`)
const startedAt = performance.now()
const stack = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
try {
  const result = await runCampaign(stack, options, progress)
  progress.print(campaignReport(result, performance.now() - startedAt))
  if (options.out !== undefined) await writeFile(options.out, observationsJson(result))
  process.exitCode = result.violations.length > 0 ? 1 : 0
} finally {
  await stack.disposeAsync()
}

/** @returns what is wrong when it cannot be run */
function readOptions() {
  const text = { type: 'string' } as const
  const texts = {
    minutes: text,
    faults: text,
    seed: text,
    replay: text,
    kinds: text,
    load: text,
    limit: text,
    slow: text,
  }
  const places = { out: text, logs: text, without: text, next: text, 'event-store': text }
  const others = { node: { ...text, multiple: true }, strict: { type: 'boolean' } } as const
  try {
    const { values } = parseArgs({ options: { ...texts, ...places, ...others } })
    const {
      out,
      logs,
      next: nextRoot,
      node: commands = [],
      'event-store': connectionString,
      strict: isStrict = false,
    } = values
    const [seed = randomInt(1_000_000), round] = (values.replay ?? values.seed)?.split(':').map(Number) ?? []
    const faults = Number(values.faults ?? Number.POSITIVE_INFINITY)
    const minutes = Number(values.minutes ?? (values.faults === undefined ? 10 : Number.POSITIVE_INFINITY))
    const load = Number(values.load ?? 5)
    const limitMs = Number(values.limit ?? 30) * 1_000
    const slowMs = Number(values.slow ?? 5.5) * 1_000
    const without = values.without?.split(',') ?? []
    const isCluster = commands.length >= leastNodes
    const kinds = (values.kinds?.split(',') ?? (isCluster ? faultKinds : usualKinds)) as readonly FaultKind[]
    const isValid =
      [seed, round ?? 0].every(Number.isSafeInteger) &&
      [minutes, faults, load, limitMs, slowMs].every((number) => number > 0) &&
      without.every((part) => ['edge', 'redis'].includes(part)) &&
      kinds.every((kind) => faultKinds.includes(kind))
    const needsCluster = kinds.find((kind) => !isCluster && !usualKinds.includes(kind))
    const problem = isValid ? nodesProblem(connectionString, commands, needsCluster) : usage
    if (problem !== undefined) return problem
    const eventStore = connectionString === undefined ? undefined : { connectionString, commands }
    return {
      seed,
      round,
      minutes,
      faults,
      load,
      limitMs,
      slowMs,
      kinds,
      without,
      out,
      logs,
      nextRoot,
      eventStore,
      isStrict,
    }
  } catch {
    return usage
  }
}

function nodesProblem(
  connectionString: string | undefined,
  commands: readonly string[],
  needsCluster: FaultKind | undefined,
): string | undefined {
  if (needsCluster !== undefined) return `--kinds ${needsCluster} needs an event store of ${leastNodes} nodes.`
  if (connectionString === undefined) return commands.length > 0 ? '--node needs --event-store.' : undefined
  try {
    const hosts = parseConnectionString(connectionString).hosts.length
    if (hosts === commands.length) return undefined
    return `--event-store names ${hosts} hosts, so there must be as many --node, not ${commands.length}.`
  } catch (error) {
    return `--event-store ${error instanceof Error ? error.message : error}.`
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
