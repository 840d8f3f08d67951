// `npm run bench -- commands`: POST /payments/intents compared with a bare route that inserts one row into the same
// Postgres, and with one that validates the session and appends two events to the same event store.
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
import { authorization, idIn, order, rawPost } from './payments.ts'
import { paymentsInLog } from './paymentsInLog.ts'

const depths = [1, 16, 64]
const bounds = { insert: 'a bare route, one INSERT', appends: 'a bare route, session and two appends' } as const
type Bound = keyof typeof bounds
type Round = {
  readonly perSecond: number
  readonly ms: readonly number[]
  /** Per request, of each process. */
  readonly cpuMicros: Readonly<Record<string, number>>
}
type Rounds = readonly { readonly ours: Round; readonly bare: Readonly<Record<Bound, Round>> }[]
type Length = { readonly inFlight: number; readonly seconds: number }

/**
 * Creates payments over kept-alive connections, 1, 16 and 64 in flight, alternating with the bare routes: `--rounds` (6)
 * of `--seconds` (4) each. Then looks up every acknowledged payment in the log. `EVENTSTORE_URL` selects an event store
 * that runs already.
 * @throws Error for invalid options, and when a payment does not get 201
 */
export async function commands(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const { rounds, seconds } = optionsOf(options)
  const system = await startCommandSystem(options.stack, options.env.EVENTSTORE_URL)
  const { server } = system
  const acknowledged: string[] = []
  const recordId = (response: string) => void acknowledged.push(idIn(response))
  const rows: BenchmarkRow[] = []
  for (const inFlight of depths) {
    const length = { inFlight, seconds }
    const ours = () => measureRound(system, system.api, length, recordId)
    const bareSides = async () => ({
      insert: await measureRound(system, system.insert, length, () => undefined),
      appends: await measureRound(system, system.appends, length, () => undefined),
    })
    // A warm-up: query plans are made and code is compiled.
    await alternateRounds(1, ours, bareSides)
    const measured = await alternateRounds(rounds, ours, bareSides)
    options.print(`${inFlight} in flight, ratios of the rounds: ${ratiosOf(measured)}; ${cpuOf(measured)}`)
    rows.push(...rowsOf(inFlight, measured))
  }
  return { postgres: server.postgres.description, rows: [...rows, ...(await paymentsInLog(system, acknowledged))] }
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
  const request = rawPost(path, { head: [`authorization: ${authorization}`], body: order })
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
  const compared = (bound: Bound, of: (round: Round) => number) =>
    summarizeRounds(
      measured.map(({ ours, bare }) => ({ ours: of(ours), bare: of(bare[bound]) })),
      bounds[bound],
    )
  const cpu = ({ cpuMicros }: Round) => Object.values(cpuMicros).reduce((sum, each) => sum + each)
  const isFull = inFlight === Math.max(...depths)
  return [
    {
      name,
      unit: '/s',
      ...compared('insert', ({ perSecond }) => perSecond),
      ...(isFull && { target: { of: 'ratio', atLeast: 0.22 } }),
    },
    {
      name,
      unit: '/s',
      ...compared('appends', ({ perSecond }) => perSecond),
      ...(inFlight !== 16 && { target: { of: 'ratio', atLeast: 0.75 } }),
    },
    { name: `${name}, p50`, unit: 'ms', ...compared('appends', ({ ms }) => quantile(ms, 0.5)) },
    { name: `${name}, p99`, unit: 'ms', ...compared('appends', ({ ms }) => quantile(ms, 0.99)) },
    {
      name: `${name}, CPU time of all processes`,
      unit: 'µs',
      ...compared('insert', cpu),
      ...(isFull && { target: { of: 'ratio', atMost: 4.5 } }),
    },
  ]
}

function ratiosOf(measured: Rounds): string {
  const ratios = (bound: Bound) =>
    measured.map(({ ours, bare }) => formatNumber(ours.perSecond / bare[bound].perSecond, 2)).join(' ')
  return `to INSERT ${ratios('insert')}; to appends ${ratios('appends')}`
}

/** Of the last round, after the warm-up. */
function cpuOf(measured: Rounds): string {
  const { ours, bare } = measured.at(-1) ?? {}
  const text = (round: Round | undefined) =>
    Object.entries(round?.cpuMicros ?? {})
      .map(([name, spent]) => `${name} ${formatNumber(spent)}`)
      .join(', ')
  return `CPU µs of a payment: ${text(ours)}; of a bare request with appends: ${text(bare?.appends)}`
}
