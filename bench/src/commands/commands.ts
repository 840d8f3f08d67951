// `npm run bench -- commands`: POST /payments/intents beside a bare route that inserts one row into the same Postgres.
import { parseArgs } from 'node:util'
import {
  alternateRounds,
  type BenchmarkOptions,
  type BenchmarkResult,
  type BenchmarkRow,
  formatNumber,
  quantile,
  summarizeRounds,
} from '../harness/benchmark.ts'
import { measureLoad } from '../harness/load.ts'
import { cpuMicros, cpuMicrosOfAll } from '../harness/usage.ts'
import { type CommandSystem, type Side, startCommandSystem } from './commandSystem.ts'
import { authorization, idIn, order } from './payments.ts'
import { paymentsInLog } from './paymentsInLog.ts'

const depths = [1, 16, 64]
const bare = 'a bare route, one INSERT'

type Round = {
  readonly perSecond: number
  readonly ms: readonly number[]
  /** For each request, of each process. */
  readonly cpuMicros: Readonly<Record<string, number>>
}
type Rounds = readonly { readonly ours: Round; readonly bare: Round }[]
type Length = { readonly inFlight: number; readonly seconds: number }

/**
 * Opens payments over kept connections, 1, 16 and 64 in flight, in turns with the bare route: `--rounds` (6) of `--seconds` (4)
 * each. Then every payment that was answered is looked for in the log.
 * @throws Error for options that make no sense, and when a payment is not answered with 201
 */
export async function commands(asked: BenchmarkOptions): Promise<BenchmarkResult> {
  const { rounds, seconds } = optionsOf(asked)
  const system = await startCommandSystem(asked.stack)
  const { node } = system
  const answered: string[] = []
  const take = (answer: string) => void answered.push(idIn(answer))
  const rows: BenchmarkRow[] = []
  for (const inFlight of depths) {
    const length = { inFlight, seconds }
    const ours = () => measureRound(system, system.api, length, take)
    const theirs = () => measureRound(system, system.bare, length, () => undefined)
    // Once for nothing: plans are made, code is compiled.
    await alternateRounds(1, ours, theirs)
    const measured = await alternateRounds(rounds, ours, theirs)
    asked.print(`${inFlight} in flight, ratios of the rounds: ${ratiosOf(measured)}; ${cpuOf(measured)}`)
    rows.push(...rowsOf(inFlight, measured))
  }
  return { postgres: node.postgres.description, rows: [...rows, ...(await paymentsInLog(node, answered))] }
}

function optionsOf({ args, isQuick }: BenchmarkOptions): { readonly rounds: number; readonly seconds: number } {
  const options = {
    rounds: { type: 'string', default: isQuick ? '2' : '6' },
    seconds: { type: 'string', default: isQuick ? '1' : '4' },
  } as const
  const { values } = parseArgs({ args: [...args], options })
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
  if (!(Number.isInteger(rounds) && rounds > 0)) throw new Error('--rounds is a whole number above 0')
  if (!(seconds > 0)) throw new Error('--seconds is a number above 0')
  return { rounds, seconds }
}

async function measureRound(
  { node }: CommandSystem,
  { port, path, processes }: Side,
  { inFlight, seconds }: Length,
  onResponse: (response: string) => void,
): Promise<Round> {
  const head = `host: bench\r\nauthorization: ${authorization}\r\ncontent-type: application/json`
  const request = `POST ${path} HTTP/1.1\r\n${head}\r\ncontent-length: ${order.length}\r\n\r\n${order}`
  const cpu = (): [string, number][] => [
    ...Object.entries(processes).map(([name, pid]): [string, number] => [name, cpuMicros(pid)]),
    ['Postgres', cpuMicrosOfAll(node.postgres.pid)],
  ]
  const before = cpu()
  const begin = performance.now()
  const load = { port, connections: inFlight, seconds, rate: undefined, expectedStatus: 201, onResponse }
  const times = await measureLoad(load, () => request, Math.random)
  const ms = times.map((each) => each.ms)
  return {
    perSecond: (ms.length * 1_000) / (performance.now() - begin),
    ms,
    cpuMicros: Object.fromEntries(
      cpu().map(([name, spent], index) => [name, (spent - (before[index]?.[1] ?? 0)) / ms.length]),
    ),
  }
}

function rowsOf(inFlight: number, measured: Rounds): BenchmarkRow[] {
  const name = `POST /payments/intents, ${inFlight} in flight`
  const compared = (of: (round: Round) => number) =>
    summarizeRounds(
      measured.map((round) => ({ ours: of(round.ours), bare: of(round.bare) })),
      bare,
    )
  return [
    { name, unit: '/s', ...compared(({ perSecond }) => perSecond) },
    { name: `${name}, p50`, unit: 'ms', ...compared(({ ms }) => quantile(ms, 0.5)) },
    { name: `${name}, p99`, unit: 'ms', ...compared(({ ms }) => quantile(ms, 0.99)) },
    {
      name: `${name}, CPU time of all processes`,
      unit: 'µs',
      ...compared(({ cpuMicros }) => Object.values(cpuMicros).reduce((sum, each) => sum + each)),
    },
  ]
}

function ratiosOf(measured: Rounds): string {
  return measured.map(({ ours, bare }) => formatNumber(ours.perSecond / bare.perSecond, 2)).join(' ')
}

/** Of the last round, in which code is compiled. */
function cpuOf(measured: Rounds): string {
  const last = Object.entries(measured.at(-1)?.ours.cpuMicros ?? {})
  return `CPU µs of a payment: ${last.map(([name, spent]) => `${name} ${formatNumber(spent)}`).join(', ')}`
}
