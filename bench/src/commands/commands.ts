// `npm run bench -- commands`: POST /payments/intents compared with a bare route that inserts one row into the same
// Postgres.
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
  /** Per request, of each process. */
  readonly cpuMicros: Readonly<Record<string, number>>
}
type Rounds = readonly { readonly ours: Round; readonly bare: Round }[]
type Length = { readonly inFlight: number; readonly seconds: number }

/**
 * Creates payments over kept-alive connections, 1, 16 and 64 in flight, alternating with the bare route: `--rounds` (6)
 * of `--seconds` (4) each. Then looks up every acknowledged payment in the log.
 * @throws Error for invalid options, and when a payment does not get 201
 */
export async function commands(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const { rounds, seconds } = optionsOf(options)
  const system = await startCommandSystem(options.stack)
  const { server } = system
  const acknowledged: string[] = []
  const recordId = (response: string) => void acknowledged.push(idIn(response))
  const rows: BenchmarkRow[] = []
  for (const inFlight of depths) {
    const length = { inFlight, seconds }
    const ours = () => measureRound(system, system.api, length, recordId)
    const bareSide = () => measureRound(system, system.bare, length, () => undefined)
    // A warm-up: query plans are made and code is compiled.
    await alternateRounds(1, ours, bareSide)
    const measured = await alternateRounds(rounds, ours, bareSide)
    options.print(`${inFlight} in flight, ratios of the rounds: ${ratiosOf(measured)}; ${cpuOf(measured)}`)
    rows.push(...rowsOf(inFlight, measured))
  }
  return { postgres: server.postgres.description, rows: [...rows, ...(await paymentsInLog(server, acknowledged))] }
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
  { server }: CommandSystem,
  { port, path, processes }: Side,
  { inFlight, seconds }: Length,
  onResponse: (response: string) => void,
): Promise<Round> {
  const head = `host: bench\r\nauthorization: ${authorization}\r\ncontent-type: application/json`
  const request = `POST ${path} HTTP/1.1\r\n${head}\r\ncontent-length: ${order.length}\r\n\r\n${order}`
  const cpu = (): [string, number][] => [
    ...Object.entries(processes).map(([name, pid]): [string, number] => [name, cpuMicros(pid)]),
    ['Postgres', cpuMicrosOfAll(server.postgres.pid)],
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

/** Of the last round, after the warm-up. */
function cpuOf(measured: Rounds): string {
  const last = Object.entries(measured.at(-1)?.ours.cpuMicros ?? {})
  return `CPU µs of a payment: ${last.map(([name, spent]) => `${name} ${formatNumber(spent)}`).join(', ')}`
}
