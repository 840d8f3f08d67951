// `npm run bench -- sealing`: what sealing personal data costs a command and a projection, beside events that are not sealed.
import { parseArgs } from 'node:util'
import { type Codec, domainCodec } from '@paylog/event-store/codec/codec'
import { createEventStore } from '@paylog/event-store/eventStore'
import { readModelMigrations } from '@paylog/projections/registry'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { type PrivateServer, startPrivateServer } from '../event-store/privateServer.ts'
import {
  alternateRounds,
  type BenchmarkOptions,
  type BenchmarkResult,
  type BenchmarkRow,
  formatNumber,
  summarizeRounds,
} from '../harness/benchmark.ts'
import { fillLog } from '../projections/fillLog.ts'
import { paymentLog } from '../projections/paymentLog.ts'
import { run } from '../projections/task.ts'
import { commandLatency } from './commandLatency.ts'
import { openCodec } from './openCodec.ts'

/** @throws Error for invalid options */
export async function sealing(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const { events, rounds, seconds } = optionsOf(options)
  const { postgres, rows } = await commandLatency(options, { rounds, seconds })
  return { postgres, rows: [...rows, await measureProjection(options, { events, rounds })] }
}

/** Rebuilds the payments from a log of sealed events and from one that is not. */
async function measureProjection(
  { stack, print }: BenchmarkOptions,
  { events, rounds }: { readonly events: number; readonly rounds: number },
): Promise<BenchmarkRow> {
  const filled = async (codec: Codec) => {
    const server = await startPrivateServer(stack)
    const log = createLog({ app: 'bench', level: 'error' })
    const pool = createPool({ databaseUrl: server.postgres.databaseUrl, applicationName: 'bench', max: 1, log })
    stack.defer(() => pool.end())
    await migrate(pool, readModelMigrations)
    const store = createEventStore({ connectionString: server.connectionString, keys: server.keys, codec })
    stack.defer(() => store.close())
    await fillLog(store, paymentLog({ mixed: 0 }), events)
    return server
  }
  const [sealed, open] = [await filled(domainCodec), await filled(openCodec)]
  print(`two logs of ${formatNumber(events)} events are filled`)
  const rate = async (server: PrivateServer) => {
    const { ms } = await run('rebuild', events, server)
    return (events * 1_000) / ms
  }
  const pairs = await alternateRounds(
    rounds,
    () => rate(sealed),
    () => rate(open),
  )
  const summary = summarizeRounds(pairs, 'not sealed')
  const name = `events of a rebuild of ${formatNumber(events)}`
  return { name, unit: '/s', ...summary, target: { of: 'ratio', atLeast: 0.8 } }
}

function optionsOf({ args, isQuick }: BenchmarkOptions) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: 'string', default: isQuick ? '10000' : '200000' },
      rounds: { type: 'string', default: isQuick ? '1' : '5' },
      seconds: { type: 'string', default: isQuick ? '2' : '8' },
    },
  })
  const [events, rounds, seconds] = [Number(values.events), Number(values.rounds), Number(values.seconds)]
  if (!(events > 0 && rounds > 0 && seconds > 0))
    throw new Error('--events, --rounds and --seconds are numbers above 0')
  return { events, rounds, seconds }
}
